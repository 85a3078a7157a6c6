package stub

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ssmctl/ssmctl/internal/protect"
	"github.com/ssmctl/ssmctl/internal/session"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestScripts plays testdata/*.txt to stubs. A script's lines are commands; below each, indented,
// stands what the stub did. Lines that are empty or begin with # are comments. The commands:
//
//	stub bricks=5 w=3 wq=2 r=1     a new stub; time-out 60 ms, TTL 2 min
//	AT up|heard BRICKS SETTING     a first sign of life, a heartbeat; BRICKS is 1,2 or 1-3
//	AT down BRICK                  the connection to a brick is lost
//	AT write NAME                  begin a write, whose completion and cookie are called NAME
//	AT read NAME OF                begin a read with the cookie of write OF
//	AT urgent NAME OF              the same, whatever the windows say
//	AT reply NAME BRICK ANSWER     done, wrong (a value that was not written), notfound, full or corrupt
//	AT expire                      the deadline has come
//	AT cycle N                     N writes, each answered at once by all that it was sent to
//	cookie NAME EXPIRY BRICKS      a cookie that no write of this stub made
//	windows | counts | deadline    show what the stub holds
//
// AT is a time since the stub's start. The scripts leave chance no choice of bricks, and sends are
// shown in the order of their bricks.
func TestScripts(t *testing.T) {
	scripts, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("scripts: %v, error %v", scripts, err)
	}
	for _, path := range scripts {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txt"), func(t *testing.T) {
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			got := play(t, string(want))
			if *update {
				if err := os.WriteFile(path, got, 0o644); err != nil {
					t.Fatal(err)
				}
			} else if !bytes.Equal(want, got) {
				t.Errorf("%s differs (-want +got), go test -update rewrites it:\n%s", path, cmp.Diff(string(want), string(got)))
			}
		})
	}
}

// play carries out a script and returns it with the trace of this time.
func play(t *testing.T, text string) []byte {
	var out bytes.Buffer
	var s script
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "  ") {
			continue // the trace of another time
		}
		out.WriteString(line)
		args := strings.Fields(line)
		if len(args) == 0 || args[0] == "#" {
			continue
		}
		if err := s.do(&out, args); err != nil {
			t.Fatalf("%s: %v", strings.TrimSpace(line), err)
		}
	}
	return out.Bytes()
}

// script is a stub and what its script calls things.
type script struct {
	core    *Core
	now     time.Duration
	ids     map[string]uint64 // of the operations of an attempt; all have the same
	names   map[uint64]string // of attempts, by tag
	ops     map[string]session.Op
	cookies map[string]session.Cookie
}

var scriptValue = []byte("the state that every write writes")

func (s *script) do(out *bytes.Buffer, args []string) error {
	switch args[0] {
	case "stub":
		return s.begin(args[1:])
	case "cookie":
		return s.forge(args[1], args[2], args[3])
	case "windows":
		s.windows(out)
		return nil
	case "counts":
		fmt.Fprintf(out, "  %+v\n", s.core.Counts())
		return nil
	case "deadline":
		fmt.Fprintf(out, "  %v\n", s.core.Deadline())
		return nil
	}
	at, err := time.ParseDuration(args[0])
	if err != nil || at < s.now {
		return fmt.Errorf("not a time after %v", s.now)
	}
	s.now = at
	fx, err := s.act(out, args[1], args[2:])
	if err == nil && fx != nil {
		s.show(out, fx)
	}
	return err
}

// act does what has effects.
func (s *script) act(out *bytes.Buffer, verb string, args []string) (*Effects, error) {
	switch verb {
	case "up", "heard":
		return nil, s.hear(verb, args[0], args[1])
	case "down":
		id, err := session.ParseBrickID(args[0])
		return s.core.Down(s.now, id), err
	case "write":
		s.name(args[0], session.Write)
		return s.core.Begin(s.now, &Attempt{Tag: s.tag(), Op: session.Write, Key: session.Key(s.tag()), Version: 1, Value: scriptValue}), nil
	case "read", "urgent":
		cookie, known := s.cookies[args[1]]
		if !known {
			return nil, fmt.Errorf("%s has no cookie", args[1])
		}
		s.name(args[0], session.Read)
		return s.core.Begin(s.now, &Attempt{Tag: s.tag(), Op: session.Read, Cookie: &cookie, Urgent: verb == "urgent"}), nil
	case "reply":
		return s.reply(args[0], args[1], args[2])
	case "expire":
		return s.core.Expire(s.now), nil
	case "cycle":
		return nil, s.cycle(out, args[0])
	}
	return nil, fmt.Errorf("no command %s", verb)
}

func (s *script) begin(args []string) error {
	bricks := 0
	var q session.Quorum
	if _, err := fmt.Sscanf(strings.Join(args, " "), "bricks=%d w=%d wq=%d r=%d", &bricks, &q.W, &q.WQ, &q.R); err != nil {
		return err
	}
	if err := q.Validate(0); err != nil {
		return err
	}
	policy, err := protect.PolicyByName(protect.DefaultPolicy)
	if err != nil {
		return err
	}
	cfg := Config{Quorum: q, Timeout: 60 * time.Millisecond, TTL: 2 * time.Minute, Policy: policy, Seed: 1}
	for id := range bricks {
		cfg.Bricks = append(cfg.Bricks, session.BrickID(id+1))
	}
	*s = script{
		core: New(cfg), ids: make(map[string]uint64), names: make(map[uint64]string),
		ops: make(map[string]session.Op), cookies: make(map[string]session.Cookie),
	}
	return nil
}

func (s *script) hear(verb, bricks, setting string) error {
	p, err := protect.ParseSetting(setting)
	if err != nil {
		return err
	}
	ids, err := brickList(bricks)
	for _, id := range ids {
		if verb == "up" {
			s.core.Up(id, p)
		} else {
			s.core.Heard(id, p)
		}
	}
	return err
}

// name opens the attempt that Begin is about to be called for; tag is its tag.
func (s *script) name(name string, op session.Op) {
	s.names[uint64(len(s.names)+1)] = name
	s.ops[name] = op
}

func (s *script) tag() uint64 { return uint64(len(s.names)) }
