package agent_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/brick/brickd"
	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/fleet"
	"github.com/ssmctl/ssmctl/internal/loadgen/message"
	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

// process is a copy of the test binary in a role.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	out    *bufio.Reader
	stderr *os.File // ends when the process and all that it started have ended
}

func play(t *testing.T, part, arg string) *process {
	t.Helper()
	stderr, theirs, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), role+"="+part, argument+"="+arg, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = theirs
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{t: t, cmd: cmd, out: bufio.NewReader(out), stderr: stderr}
	t.Cleanup(func() { p.kill(); _ = stderr.Close() }) // it was only read
	if err := theirs.Close(); err != nil {
		t.Fatal(err)
	}
	return p
}

// line waits for the next line that the process prints.
func (p *process) line() string {
	p.t.Helper()
	got := make(chan string, 1)
	go func() {
		s, _ := p.out.ReadString('\n') // an end is an empty line
		got <- strings.TrimSpace(s)
	}()
	select {
	case s := <-got:
		return s
	case <-time.After(patience):
		p.kill()
		p.t.Fatal("the process says nothing")
		return ""
	}
}

// kill sends the signal that nothing survives. More than once does no harm.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it has ended, if this fails
	_ = p.cmd.Wait()         // that it was killed is known
}

// serveBrick is roleBrick: it prints where it listens.
func serveBrick(addr string) error {
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Println(ln.Addr())
	return brickd.New(brickd.Config{
		ID: 1, Protection: protect.On, Profile: profile.Profile{Processor: profile.Processor{Kind: profile.Native}},
	}).Serve(context.Background(), ln)
}

// A brick that is killed is reported by every machine, and so is its return; the users
// go on meanwhile, and nothing that was acknowledged is lost.
func TestBrickKilled(t *testing.T) {
	t.Parallel()
	const victim = session.BrickID(1)
	p := play(t, roleBrick, "127.0.0.1:0")
	addr := p.line()
	bricks := embedded(t, 4)
	bricks[0] = remote.Brick{ID: victim, Addr: addr}
	d := drive(t)
	d.ready(endless(bricks))
	d.begin()
	reports := d.until("an interval", isInterval)
	moves := func(up bool) {
		for range 2 { // machines
			reports = append(reports, d.until("a move", func(r *message.Report) bool { return r.Brick != nil })...)
			if b := reports[len(reports)-1].Brick; b.ID != victim || b.Up != up || b.Second < -1 {
				t.Errorf("move %+v, want up to be %t", b, up)
			}
		}
	}
	p.kill()
	moves(false)
	goodput := func() { // the second second began after what came before
		reports = append(reports, d.until("an interval", isInterval)...)
		reports = append(reports, d.until("an interval with goodput", func(r *message.Report) bool {
			return len(r.Interval) > 0 && r.Interval[0].Count[session.OK] > 0
		})...)
	}
	goodput()
	again := play(t, roleBrick, addr)
	if got := again.line(); got != addr {
		t.Fatalf("the brick does not come back: %q", got)
	}
	moves(true)
	goodput()
	d.order(message.Order{Stop: true})
	reports = append(reports, d.until("Ended", isEnded)...)
	for _, i := range seconds(t, reports, -1) {
		if i.Count[session.Wrong]+i.Lost > 0 {
			t.Errorf("second %d: %v, %d lost", i.Second, i.Count, i.Lost)
		}
	}
	allFound(t, d.finish())
	if h, err := plain.Status(t.Context(), bricks[0]); err != nil || h.Stats.Writes == 0 {
		t.Errorf("the brick that came back is not used: %+v, %v", h.Stats, err)
	}
}

// coordinate is roleCoordinator: it has an agent measure without end on the bricks of
// its argument, and says so once users are at work.
func coordinate(bricksJSON string) error {
	var bricks []remote.Brick
	if err := json.Unmarshal([]byte(bricksJSON), &bricks); err != nil {
		return err
	}
	if err := os.Setenv(role, roleAgent); err != nil {
		return err
	}
	a, err := fleet.StartAgent(os.Stderr)
	if err != nil {
		return err
	}
	orders, level, now := message.NewWriter(a.In), endless(bricks), time.Duration(0)
	for _, o := range []message.Order{{Level: &level}, {Start: &now}} {
		if err := orders.Write(o); err != nil {
			return err
		}
	}
	for r := (message.Report{}); len(r.Interval) == 0; {
		if err := message.Read(a.Out, &r); err != nil {
			return err
		}
	}
	fmt.Println("measuring")
	_, err = io.Copy(io.Discard, a.Out)
	return err
}

// An agent does not outlive its coordinator, however that ends.
func TestCoordinatorKilled(t *testing.T) {
	t.Parallel()
	bricks := embedded(t, 3)
	arg, err := json.Marshal(bricks)
	if err != nil {
		t.Fatal(err)
	}
	p := play(t, roleCoordinator, string(arg))
	if got := p.line(); got != "measuring" {
		t.Fatalf("the coordinator says %q", got)
	}
	p.kill()
	if err := p.stderr.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	said, err := io.ReadAll(p.stderr)
	if err != nil || len(said) > 0 {
		t.Errorf("the agent goes on: %v, and says %q", err, said)
	}
	alone(t, bricks)
}
