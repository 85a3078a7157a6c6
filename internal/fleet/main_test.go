package fleet_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/ssmctl/ssmctl/internal/fleet"
)

// The test binary stands in for ssmctl: copies of it are the bricks' processes. What
// childMode says makes one fail, so that its starter can be watched.
const (
	childMode   = "SSMCTL_TEST_CHILD"
	modeEnd     = "end"    // it ends before it is ready
	modeHang    = "hang"   // it is never ready
	modeVanish  = "vanish" // it removes its own file, and starts a brick in stateOfMode
	stateOfMode = "SSMCTL_TEST_STATE"
)

func TestMain(m *testing.M) {
	serving := len(os.Args) > 2 && slices.Equal(os.Args[1:3], []string{"brick", "serve"})
	mode := os.Getenv(childMode)
	switch {
	case serving && mode == modeEnd:
		fmt.Fprintln(os.Stderr, "the brick's last words")
	case serving && mode == modeHang:
		select {}
	case serving:
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		if err := fleet.ServeDaemon(ctx, os.Stderr); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
	case mode == modeVanish:
		if err := vanish(); err != nil {
			fmt.Println(err)
		}
	default:
		// Under the race detector every brick else takes a second to end.
		if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		goleak.VerifyTestMain(m)
	}
}

func vanish() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Remove(self); err != nil {
		return err
	}
	if err := os.Unsetenv(childMode); err != nil {
		return err
	}
	_, err = fleet.OpenState(os.Getenv(stateOfMode), nil).Start(context.Background(), oneBrick)
	return err
}
