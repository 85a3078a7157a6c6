package reach

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// Tries are spread out, so that the hosts of one sshd or jump host do not come back all at once.
const (
	mostTries  = 6
	firstPause = 200 * time.Millisecond
	pauseGrows = 2
)

// retry makes a connection, or does what may be done twice, until it succeeds, or fails
// in a way that does not pass.
func retry(ctx context.Context, do func() error) error {
	pause := firstPause
	for try := 1; ; try++ {
		err := do()
		var failed *CommandError
		if err == nil || !errors.As(err, &failed) || !failed.cause.passing || try == mostTries {
			return err
		}
		timer := time.NewTimer(pause/2 + rand.N(pause)) // half to one and a half
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
		pause *= pauseGrows
	}
}
