package chaos

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/ssmctl/ssmctl/internal/session"
)

// Fault is one thing that is broken on purpose, and when. Fields that its kind does
// not use are zero.
type Fault struct {
	Kind     Kind
	Brick    session.BrickID // that is struck; 0 for a fault of the load itself
	By       time.Duration   // Slow: more per message; Delay: more each way
	Jitter   time.Duration   // Delay: uniform spread to either side of By, at most By
	Share    float64         // Drop, Loss and Fill: above 0, at most 1
	Bytes    int64           // Fill, in place of Share; at least 1
	Bits     int             // Flip: states struck, a bit in each; 0 is one
	Machines int             // Surge: more than the level has
	At       time.Duration   // when it begins: since the end of the warm-up, second 0 of the series
	For      time.Duration   // how long it lasts; 0 is to the end of the level
}

// Load is the target of a fault that strikes no brick.
const Load = "load"

// maxTime bounds At and For.
const maxTime = 24 * time.Hour

// maxSurge bounds the machines of a surge, maxBits the bits of a flip.
const (
	maxSurge = 100_000
	maxBits  = 1_000_000
)

// Parse reads KIND:TARGET[,NAME=VALUE]...@AT[+FOR], such as kill:brick-2@30s+10s.
// It is the inverse of String. Its errors say what would be right.
func Parse(spec string) (Fault, error) {
	f, err := parse(spec)
	if err != nil {
		return Fault{}, fmt.Errorf("%q: %w", spec, err)
	}
	return f, nil
}

func parse(spec string) (f Fault, err error) {
	what, when, timed := strings.Cut(spec, "@")
	kind, rest, targeted := strings.Cut(what, ":")
	info, known := infoOf(Kind(kind))
	switch {
	case !known:
		return f, fmt.Errorf("%q is not a fault: choose %s", kind, join(Kinds()))
	case !targeted:
		return f, fmt.Errorf("no target: write %s", info.example())
	case !timed:
		return f, fmt.Errorf("no time: write %s", info.example())
	}
	f.Kind = info.kind
	parts := strings.Split(rest, ",")
	if f.Brick, err = parseTarget(f.Kind, parts[0]); err != nil {
		return f, err
	}
	if err = f.parseArguments(&info, parts[1:]); err != nil {
		return f, err
	}
	return f, f.parseTimes(&info, when)
}

func parseTarget(k Kind, s string) (session.BrickID, error) {
	if k == Surge {
		if s != Load {
			return 0, fmt.Errorf("target %q: a %s strikes %s", s, k, Load)
		}
		return 0, nil
	}
	number, named := strings.CutPrefix(s, "brick-")
	n, err := strconv.ParseUint(number, 10, 16)
	if !named || err != nil || n == 0 || number[0] == '0' {
		return 0, fmt.Errorf("target %q: a %s strikes a brick, such as brick-2", s, k)
	}
	return session.BrickID(n), nil
}

func (f *Fault) parseArguments(info *kindInfo, args []string) error {
	var seen []string
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		if !slices.Contains(info.arguments(), name) {
			return fmt.Errorf("%q is nothing that a %s can be told: write %s", arg, info.kind, info.example())
		}
		if slices.Contains(seen, name) {
			return fmt.Errorf("%s is given twice: once is enough", name)
		}
		seen = append(seen, name)
		if err := f.set(name, value); err != nil {
			return err
		}
	}
	for _, name := range info.needs {
		if !slices.Contains(seen, name) {
			return fmt.Errorf("no %s: write %s", name, info.example())
		}
	}
	if len(info.either) > 0 && len(seen) != 1 {
		return fmt.Errorf("one of %s, and no more: write %s", strings.Join(info.either, ", "), info.example())
	}
	if f.Jitter > f.By {
		return fmt.Errorf("jitter %v is more than by %v: choose less", f.Jitter, f.By)
	}
	return nil
}

// set takes in one argument.
func (f *Fault) set(name, value string) (err error) {
	switch name {
	case "by":
		f.By, err = parseTime(name, value, time.Microsecond)
	case "jitter":
		f.Jitter, err = parseTime(name, value, 0)
	case "share":
		f.Share, err = parseShare(value)
	case "bytes":
		f.Bytes, err = parseBytes(value)
	case "bits":
		f.Bits, err = parseCount(name, value, maxBits)
	case "machines":
		f.Machines, err = parseCount(name, value, maxSurge)
	}
	return err
}

func parseShare(s string) (float64, error) {
	share, err := strconv.ParseFloat(s, 64)
	if err != nil || !(share > 0 && share <= 1) {
		return 0, fmt.Errorf("share %q: choose above 0, at most 1", s)
	}
	return share, nil
}

func parseCount(name, s string, most int) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > most {
		return 0, fmt.Errorf("%s %q: choose 1 to %d", name, s, most)
	}
	return n, nil
}

func (f *Fault) parseTimes(info *kindInfo, s string) (err error) {
	at, length, ends := strings.Cut(s, "+")
	if f.At, err = parseTime("begin", at, 0); err != nil {
		return err
	}
	if ends && info.instant {
		return fmt.Errorf("a %s is over at once: write %s", info.kind, info.example())
	}
	if ends {
		f.For, err = parseTime("length", length, time.Millisecond)
		return err
	}
	if !info.endless && !info.instant {
		return fmt.Errorf("a %s must end: write %s", info.kind, info.example())
	}
	return nil
}

func parseTime(name, s string, least time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err != nil || d < least || d > maxTime {
		return 0, fmt.Errorf("%s %q: choose a time of %v to %v, such as 30s or 1.5ms", name, s, least, maxTime)
	}
	return d, nil
}

// String returns the fault as Parse reads it.
func (f Fault) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%s", f.Kind, f.Target())
	if f.By > 0 {
		fmt.Fprintf(&b, ",by=%v", f.By)
	}
	if f.Jitter > 0 {
		fmt.Fprintf(&b, ",jitter=%v", f.Jitter)
	}
	if f.Share > 0 {
		fmt.Fprintf(&b, ",share=%v", f.Share)
	}
	if f.Bytes > 0 {
		fmt.Fprintf(&b, ",bytes=%s", formatBytes(f.Bytes))
	}
	if f.Bits > 0 {
		fmt.Fprintf(&b, ",bits=%d", f.Bits)
	}
	if f.Machines > 0 {
		fmt.Fprintf(&b, ",machines=%d", f.Machines)
	}
	fmt.Fprintf(&b, "@%v", f.At)
	if f.For > 0 {
		fmt.Fprintf(&b, "+%v", f.For)
	}
	return b.String()
}

// Target returns whom the fault strikes, as it is written.
func (f Fault) Target() string {
	if f.Kind == Surge {
		return Load
	}
	return fmt.Sprintf("brick-%d", f.Brick)
}

// Ends returns when the fault is over, of a level that ends at end; both since the end of the warm-up.
func (f Fault) Ends(end time.Duration) time.Duration {
	if info, _ := infoOf(f.Kind); info.instant {
		return f.At
	}
	if f.For == 0 {
		return end
	}
	return min(end, f.At+f.For)
}

// arguments are all that a kind can be told.
func (info *kindInfo) arguments() []string { return slices.Concat(info.needs, info.either, info.may) }

// example is a right specification of a kind.
func (info *kindInfo) example() string {
	f := Fault{Kind: info.kind, Brick: 2, At: 30 * time.Second, For: 10 * time.Second}
	if info.instant {
		f.For = 0
	}
	for _, name := range slices.Concat(info.needs, info.either[:min(1, len(info.either))]) {
		switch name {
		case "by":
			f.By = time.Millisecond
		case "share":
			f.Share = 0.7
		case "machines":
			f.Machines = 34
		}
	}
	return f.String()
}

func join(all []Kind) string {
	names := make([]string, len(all))
	for i, k := range all {
		names[i] = string(k)
	}
	return strings.Join(names, ", ")
}
