package clock

import (
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestNowNeverGoesBack(t *testing.T) {
	const readers, readings = 4, 10_000
	var wg sync.WaitGroup
	for range readers {
		wg.Go(func() {
			last := Now()
			for range readings {
				now := Now()
				if now < last {
					t.Errorf("%v after %v", now, last)
				}
				last = now
			}
		})
	}
	wg.Wait()
}

// The epoch is that of Unix: agents on different hosts name expiries by it.
func TestNowEpoch(t *testing.T) {
	if gap := (Now() - time.Duration(time.Now().UnixNano())).Abs(); gap > time.Hour {
		t.Errorf("%v away from the wall clock", gap)
	}
}
