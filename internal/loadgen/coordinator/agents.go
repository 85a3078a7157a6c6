package coordinator

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/ssmctl/ssmctl/internal/loadgen/message"
)

// agent is the coordinator's end of an agent.
type agent struct {
	index  int // its part of a tally
	host   string
	orders *message.Writer
	in     io.Reader
	heard  time.Time     // of the level, last
	trip   time.Duration // there and back, as last measured
	lost   error         // why it takes no part any more
}

// report is a frame of an agent, or the error that ended its stream.
type report struct {
	from *agent
	at   time.Time
	message.Report
	err error
}

func (a *agent) listen(to chan<- report, done <-chan struct{}) {
	for {
		r := report{from: a}
		r.err = message.Read(a.in, &r.Report)
		r.at = time.Now()
		select {
		case to <- r:
		case <-done:
			return
		}
		if r.err != nil {
			return
		}
	}
}

func (a *agent) order(o message.Order) error {
	if err := a.orders.Write(o); err != nil {
		return &AgentError{Host: a.host, Err: err}
	}
	return nil
}

// AgentError is the loss of an agent.
type AgentError struct {
	Host string
	Err  error
}

func (e *AgentError) Error() string {
	return fmt.Sprintf("the load agent on %s is lost: %v", e.Host, e.Err)
}

// Unwrap returns the cause.
func (e *AgentError) Unwrap() error { return e.Err }

// agentsOf takes agents over, those of a host one after the other.
func agentsOf(given []Agent) []*agent {
	var hosts []string
	for i := range given {
		if !slices.Contains(hosts, given[i].Host) {
			hosts = append(hosts, given[i].Host)
		}
	}
	agents := make([]*agent, 0, len(given))
	for _, host := range hosts {
		for i := range given {
			if g := &given[i]; g.Host == host {
				agents = append(agents, &agent{index: len(agents), host: host, orders: message.NewWriter(g.In), in: g.Out})
			}
		}
	}
	return agents
}

// live returns the agents that are not lost.
func (c *Coordinator) live() []*agent {
	return slices.DeleteFunc(slices.Clone(c.agents), func(a *agent) bool { return a.lost != nil })
}

// byHost groups agents.
func byHost(agents []*agent) (groups [][]*agent) {
	for i, a := range agents {
		if i == 0 || a.host != agents[i-1].host {
			groups = append(groups, nil)
		}
		last := &groups[len(groups)-1]
		*last = append(*last, a)
	}
	return groups
}

// spread shares n machines out evenly between the hosts, and those of a host between its
// agents: a host with more agents gets no more for it.
func spread(n int, agents []*agent) []int {
	shares := make([]int, 0, len(agents))
	groups := byHost(agents)
	for i, machines := range split(n, len(groups)) {
		shares = append(shares, split(machines, len(groups[i]))...)
	}
	return shares
}

// split shares n machines out evenly.
func split(n, parts int) []int {
	shares := make([]int, parts)
	for i := range shares {
		shares[i] = n / parts
		if i < n%parts {
			shares[i]++
		}
	}
	return shares
}
