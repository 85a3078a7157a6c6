package fleet_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"
	"testing"

	"go.uber.org/goleak"

	"github.com/ssmctl/ssmctl/internal/brick/remote"
	"github.com/ssmctl/ssmctl/internal/fleet"
)

// plain speaks plaintext.
var plain remote.Client

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
	case len(os.Args) > 1 && os.Args[1] == "agent":
		if err := idleAgent(); err != nil {
			fmt.Println(err)
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

// idleAgent is an agent that makes no load: it says that it is there, and ends with its input.
func idleAgent() error {
	p := fleet.Place{Cluster: os.Args[3], Host: os.Args[5], Base: os.Getenv(stateOfMode)}
	leave, err := p.Enlist(true)
	if err != nil {
		return err
	}
	defer leave()
	fmt.Println("there")
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
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
