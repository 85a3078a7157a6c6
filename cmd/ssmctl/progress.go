package main

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/result"
	"github.com/ssmctl/ssmctl/internal/session"
)

// progress tells on stderr how far a run is: a bar on a terminal, a plain line for
// each level elsewhere, nothing when quiet.
type progress struct {
	err    io.Writer
	quiet  bool
	bars   *mpb.Progress // nil unless a run is shown on a terminal
	bar    *mpb.Bar
	now    atomic.Pointer[string] // what the bar says of the level under way; it is drawn by another goroutine
	levels int
	done   int
}

// plural counts things in words.
func plural(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// levelOverhead is what a level takes beside its warm-up and its measured time.
const levelOverhead = time.Second

func newProgress(err io.Writer, quiet bool) *progress { return &progress{err: err, quiet: quiet} }

// linef says something in a line of its own.
func (p *progress) linef(format string, args ...any) {
	if p.quiet {
		return
	}
	line := fmt.Sprintf("ssmctl: "+format+"\n", args...)
	if p.bars != nil {
		_, _ = p.bars.Write([]byte(line)) // above the bar; the terminal may be gone
		return
	}
	_, _ = io.WriteString(p.err, line) // the terminal may be gone
}

// begin opens the bar of a run that has skip of its levels already; pace says how long
// the others will take.
func (p *progress) begin(plan *result.Plan, skip int, pace string) {
	points := loadgen.Points(plan)
	p.levels, p.done = len(points), skip
	each := plan.Warmup + plan.Duration
	left := len(points) - skip
	p.linef("%s of %v, %v warm-up each: %s", plural(left, "level"), plan.Duration, plan.Warmup, pace)
	f, ok := p.err.(*os.File)
	if p.quiet || !ok || !term.IsTerminal(int(f.Fd())) {
		return
	}
	p.bars = mpb.New(mpb.WithOutput(f), mpb.WithWidth(40))
	// Made without a total, the bar is complete when end says so and not before: what is
	// said after its last second would be lost.
	p.bar = p.bars.AddBar(0,
		mpb.PrependDecorators(decor.Any(p.current)),
		mpb.AppendDecorators(decor.Percentage()))
	p.bar.SetTotal(int64(left)*int64(each/time.Second), false)
}

func (p *progress) current(decor.Statistics) string {
	if now := p.now.Load(); now != nil {
		return *now
	}
	return ""
}

// end closes the bar. What was said above it last is drawn with its last state.
func (p *progress) end() {
	if p.bars == nil {
		return
	}
	p.bar.SetTotal(-1, true)
	p.bars.Wait()
	p.bars, p.bar = nil, nil
}

// second shows a second of the level under way.
func (p *progress) second(at loadgen.Point, s result.Second) {
	if p.bar == nil {
		return
	}
	now := fmt.Sprintf("%s, protection %s: %d/s ", plural(at.Machines, "machine"), s.Protection, s.Count[session.OK])
	p.now.Store(&now)
	p.bar.Increment()
}

// level says how a level came out.
func (p *progress) level(r *result.Row) {
	p.done++
	p.linef("%d/%d: %s, protection %s: goodput %.0f/s, failed %.0f/s", p.done, p.levels, plural(r.Machines, "machine"), r.Protection, r.Goodput(), r.Failed())
}
