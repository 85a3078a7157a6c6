package search

import (
	"cmp"
	"context"
	"maps"
	"runtime"
	"slices"
	"sync"
)

// Finding is a case that broke an invariant.
type Finding struct {
	Drawn     Case // as its seed gives it
	Case      Case // the shortest that was found to break the same invariant
	Violation Violation
}

// Summary counts what a search has done.
type Summary struct {
	Cases    int
	Promised int // of those, with the promise of progress
	Events   uint64
	Findings []Finding // in order of their seeds
}

// verdict is what a worker says of a case.
type verdict struct {
	index    int
	promised bool
	events   uint64
	finding  *Finding
	err      error
}

// mostFindings ends a search: what is broken so often is not found better by going on.
const mostFindings = 3

// Search runs the cases of so many seeds from first on, on all cores, and shrinks those that
// break an invariant. It tells done of every case in order. It ends early when ctx does, with
// its error and what was counted till then, and after a few findings. What was found is returned
// whatever ends it: then also of cases that were not counted yet.
func Search(ctx context.Context, first uint64, cases int, done func(*Summary)) (Summary, error) {
	return search(ctx, first, cases, judge, done)
}

func search(ctx context.Context, first uint64, cases int, judge func(context.Context, uint64) verdict, done func(*Summary)) (Summary, error) {
	within, cancel := context.WithCancel(ctx)
	defer cancel()
	workers := min(runtime.GOMAXPROCS(0), cases)
	next, verdicts := make(chan int), make(chan verdict)
	var all sync.WaitGroup
	var late lateFindings
	all.Add(1 + workers)
	go func() {
		defer all.Done()
		defer close(next)
		for i := range cases {
			select {
			case next <- i:
			case <-within.Done():
				return
			}
		}
	}()
	for range workers {
		go func() {
			defer all.Done()
			for i := range next {
				v := judge(within, first+uint64(i))
				v.index = i
				select {
				case verdicts <- v:
				case <-within.Done():
					late.add(v)
					return
				}
			}
		}()
	}
	s, waiting, err := gather(within, cases, verdicts, done)
	cancel()
	all.Wait()
	if err != nil {
		s.Findings = append(s.Findings, late.inOrder(waiting)...)
	}
	return s, err
}

// lateFindings are those of workers whom nobody listens to any more.
type lateFindings struct {
	mu  sync.Mutex
	all []verdict
}

func (l *lateFindings) add(v verdict) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, v)
}

// inOrder returns them, and those among the verdicts that wait for earlier ones, by their seeds.
func (l *lateFindings) inOrder(waiting map[int]verdict) []Finding {
	all := slices.AppendSeq(l.all, maps.Values(waiting))
	all = slices.DeleteFunc(all, func(v verdict) bool { return v.finding == nil })
	slices.SortFunc(all, func(a, b verdict) int { return cmp.Compare(a.index, b.index) })
	var findings []Finding
	for _, v := range all {
		findings = append(findings, *v.finding)
	}
	return findings
}

// judge runs a seed's case, and shrinks it if it breaks an invariant.
func judge(ctx context.Context, seed uint64) verdict {
	v := judgeAsDrawn(ctx, seed)
	if f := v.finding; f != nil {
		shrunk, violation := Shrink(ctx, &f.Drawn, &f.Violation)
		f.Case, f.Violation = shrunk, *violation
	}
	return v
}

func judgeAsDrawn(ctx context.Context, seed uint64) verdict {
	c := Draw(seed)
	v := verdict{promised: c.promised()}
	var violation *Violation
	violation, v.events, v.err = Run(ctx, &c)
	if violation != nil {
		v.finding = &Finding{Drawn: c, Case: c, Violation: *violation}
	}
	return v
}

// gather puts the verdicts into the order of their seeds, so that a search that ends early
// finds the same as well. It also returns those that it could not put there any more.
func gather(ctx context.Context, cases int, verdicts <-chan verdict, done func(*Summary)) (s Summary, waiting map[int]verdict, err error) {
	waiting = make(map[int]verdict)
	for s.Cases < cases && len(s.Findings) < mostFindings {
		v, there := waiting[s.Cases]
		if !there {
			select {
			case v := <-verdicts:
				waiting[v.index] = v
			case <-ctx.Done():
				return s, waiting, ctx.Err()
			}
			continue
		}
		delete(waiting, s.Cases)
		if v.err != nil {
			return s, waiting, v.err
		}
		s.Cases++
		s.Events += v.events
		if v.promised {
			s.Promised++
		}
		if v.finding != nil {
			s.Findings = append(s.Findings, *v.finding)
		}
		done(&s)
	}
	return s, waiting, nil
}
