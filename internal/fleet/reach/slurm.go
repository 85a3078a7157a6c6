package reach

import (
	"context"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
)

// What Slurm tells the programs of an allocation about it.
const (
	slurmJob       = "SLURM_JOB_ID"
	slurmPartition = "SLURM_JOB_PARTITION"
	slurmNodes     = "SLURM_JOB_NODELIST"
)

// slurm is an allocation, or the nodes of a partition on which nothing has been allocated.
type slurm struct {
	job, partition string // one of them
	given          string // the options, as they were written
	spread         roles
}

var (
	jobForm       = regexp.MustCompile(`^[0-9]+([_+][0-9]+)?$`)
	partitionForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)
)

// newSlurm reads PARTITION, job=ID or nothing, and options behind another colon. Within an
// allocation srun goes to no other hosts, so it is the allocation that is meant.
func newSlurm(text string) (engine, error) {
	s := &slurm{}
	s.partition, s.given, _ = strings.Cut(text, ":")
	if err := s.spread.options(s.given, nil); err != nil {
		return nil, err
	}
	job := os.Getenv(slurmJob)
	if id, ok := strings.CutPrefix(s.partition, "job="); ok {
		job, s.partition = id, ""
	}
	if job == "" {
		if s.partition == "" {
			return nil, errors.New("this is not within an allocation: name a partition, or the job of an allocation: slurm:PARTITION, slurm:job=ID")
		}
		if !partitionForm.MatchString(s.partition) {
			return nil, fmt.Errorf("%q: the name of one partition", s.partition)
		}
		return s, nil
	}
	if !jobForm.MatchString(job) {
		return nil, fmt.Errorf("job=%s: the number of a job", job)
	}
	if mine := os.Getenv(slurmPartition); s.partition != "" && s.partition != mine {
		return nil, fmt.Errorf("this is within allocation %s of partition %s, and srun goes nowhere else from here: slurm: is its hosts", job, mine)
	}
	s.job, s.partition = job, ""
	return s, nil
}

func (s *slurm) canonical() string {
	text := "slurm:" + s.partition
	if s.job != "" {
		text = "slurm:job=" + s.job
	}
	if s.given != "" {
		text += ":" + s.given
	}
	return text
}

func (s *slurm) roles() roles { return s.spread }

// srunFlags are of every srun. A program is run once, on one host; what it prints is passed on
// as it comes (without --unbuffered line by line, and our messages are not lines); and the
// directory here need not exist there.
const srunFlags = " --nodelist={name} --nodes=1 --ntasks=1 --unbuffered --quiet --chdir=/"

// via is how a node is reached. In an allocation programs run beside each other. Without
// one each is a job of its own, which begins at once or not at all: one that waited for its turn
// would be an agent that never answers.
func (s *slurm) via() string {
	if s.job != "" {
		return "srun --jobid=" + s.job + " --overlap" + srunFlags
	}
	return "srun --partition=" + s.partition + " --job-name=ssmctl --oversubscribe --immediate=10" + srunFlags
}

func (s *slurm) hosts(ctx context.Context) (via string, hosts []member, err error) {
	which := []string{"-p", s.partition}
	if s.job != "" {
		list, err := s.allocated(ctx)
		if err != nil {
			return "", nil, err
		}
		which = []string{"-n", list}
	}
	// A host name may have dots and dashes, but no bar.
	out, err := query(ctx, s.canonical(), append([]string{"sinfo", "-h", "-N", "-o", "%N|%o|%t"}, which...)...)
	if err != nil {
		return "", nil, err
	}
	hosts, none := nodes(string(out), s.job != "")
	if len(hosts) == 0 {
		return "", nil, &SourceError{Source: s.canonical(), Err: errors.New(none)}
	}
	return s.via(), hosts, nil
}

// allocated returns the hosts of the allocation, as Slurm writes a list of them.
func (s *slurm) allocated(ctx context.Context) (list string, err error) {
	if list = os.Getenv(slurmNodes); list != "" && os.Getenv(slurmJob) == s.job {
		return list, nil
	}
	out, err := query(ctx, s.canonical(), "squeue", "-h", "-t", "RUNNING", "-j", s.job, "-o", "%N")
	if err != nil {
		return "", err
	}
	if list = strings.TrimSpace(string(out)); list == "" {
		return "", &SourceError{Source: s.canonical(), Err: errors.New("it does not run: see squeue")}
	}
	return list, nil
}

// nodes reads sinfo's lines of NAME|ADDRESS|STATE, which has a node once for each of its
// partitions. Of a partition those count that can take a job now: a large one has always some
// that are down. If none can, it says why.
func nodes(text string, all bool) (hosts []member, none string) {
	var not []string
	for line := range strings.Lines(text) {
		fields := strings.Split(strings.TrimSpace(line), "|")
		if len(fields) != 3 {
			continue
		}
		m := member{name: fields[0], address: fields[1]}
		switch {
		case slices.Contains(hosts, m):
		case all || takesJobs(fields[2]):
			hosts = append(hosts, m)
		default:
			not = append(not, m.name+" is "+fields[2])
		}
	}
	inOrder(hosts)
	if len(not) == 0 {
		return hosts, "there is no such partition, or it has no nodes: see sinfo"
	}
	return hosts, "no node can take a job now: " + strings.Join(not, ", ")
}

// takesJobs tells by the compact state of a node, whose mark behind says what is about to
// become of it: a dash is only that a job is planned there. One whose job has just ended (comp)
// is free in a moment: it may have been the last command of ours.
func takesJobs(state string) bool {
	switch strings.TrimSuffix(state, "-") {
	case "idle", "mix", "comp":
		return true
	}
	return false
}
