package sim

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/loadgen"
)

// A level looks whether it is given up all the way from its making to its read-back, with no
// more than a few thousand events between two looks, and from then on does nothing more.
func TestGiveUp(t *testing.T) {
	cfg := testConfig(t, []int{60}, "on")
	cfg.Plan.Warmup, cfg.Plan.Duration = 0, 2*time.Second
	point := loadgen.Points(&cfg.Plan)[0]
	enough := errors.New("enough")
	play := func(after int) (looks int, most, last uint64, err error) {
		var l *level
		look := func() error {
			looks++
			if l != nil {
				most = max(most, l.engine.handled-last)
				last = l.engine.handled
			}
			if after > 0 && looks >= after {
				return enough
			}
			return nil
		}
		if l, err = newLevel(look, cfg, point); err == nil {
			err = l.run()
		}
		if l != nil && l.engine != nil {
			last = l.engine.handled - last
		}
		return looks, most, last, err
	}
	total, most, _, err := play(0)
	if err != nil || most > abandonEvery {
		t.Fatalf("%d events without a look, at most %d wanted; error %v", most, abandonEvery, err)
	}
	for _, after := range []int{1, 60, 61, 120, 121, total / 2, total - 30, total - 1} {
		looks, _, more, err := play(after)
		if !errors.Is(err, enough) || looks > after+4 || more > 0 {
			t.Errorf("given up at look %d of %d: %d looks, %d events after it, error %v", after, total, looks, more, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Level(ctx, cfg, point); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want that of the context alone", err)
	}
}
