package sim

import (
	"context"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/result"
)

// BenchmarkEvents runs one core through virtual seconds of a level that has warmed up,
// and says how many events it handles in a second of real time.
func BenchmarkEvents(b *testing.B) {
	for _, machines := range []int{8, 24, 45, 400} {
		for _, protection := range []string{"off", "on"} {
			b.Run(fmt.Sprintf("%d/%s", machines, protection), func(b *testing.B) {
				cfg := testConfig(b, []int{machines}, protection)
				cfg.Plan.Duration = 24 * time.Hour
				l, err := newLevel(nil, cfg, loadgen.Points(&cfg.Plan)[0])
				if err != nil {
					b.Fatal(err)
				}
				l.engine.run(epoch + 25*time.Second)
				before := l.engine.handled
				b.ReportAllocs()
				for b.Loop() {
					l.engine.run(l.engine.now + time.Second)
				}
				events := float64(l.engine.handled - before)
				b.ReportMetric(events/b.Elapsed().Seconds()/1e6, "Mevents/s")
				b.ReportMetric(events/float64(b.N), "events/op")
			})
		}
	}
}

// BenchmarkSweep is Figures 8 and 9: 1 to 45 machines, protection off and on, 30 s each
// after 5 s of warm-up, on all cores.
func BenchmarkSweep(b *testing.B) {
	levels := make([]int, 45)
	for i := range levels {
		levels[i] = i + 1
	}
	cfg := testConfig(b, levels, "off", "on")
	cfg.Plan.Duration, cfg.Plan.Warmup = 30*time.Second, 5*time.Second
	for b.Loop() {
		err := Run(context.Background(), cfg, func(result.Level) error { return nil })
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N), "s/sweep")
	b.ReportMetric(float64(runtime.GOMAXPROCS(0)), "cores")
}
