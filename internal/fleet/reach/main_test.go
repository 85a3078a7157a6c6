package reach_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/ssmctl/ssmctl/internal/fleet/facts"
	"github.com/ssmctl/ssmctl/internal/fleet/labtest"
	"github.com/ssmctl/ssmctl/internal/fleet/reach"
)

// modeHang makes the test binary a coordinator that has reached the inventory it is given, and waits to be killed.
const modeHang = "SSMCTL_TEST_HANG"

// What is done to a host, or counted there, is done by one test: they run at the same time.
const (
	anyHost = iota
	secondHost
	fullHost
	readOnlyHost
	passwordHost
	keylessHost
	busyHost
	jumpHost
	behindHost
	countedHost
	allHosts
)

// lab is shared by the tests that need hosts; nil if this machine can have none.
var lab *labtest.Lab

// TestMain lets the test binary stand in for ssmctl where it has been shipped to.
func TestMain(m *testing.M) {
	switch {
	case len(os.Args) > 1 && os.Args[1] == "host-facts":
		if err := facts.Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		return
	case os.Getenv(modeHang) != "":
		hang()
		return
	}
	os.Exit(withLab(m)) //nolint:forbidigo // the tests' main
}

func withLab(m *testing.M) int {
	// They wait for others most of the time, whatever the number of processors.
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if labtest.Missing() == "" {
		var err error
		if lab, err = labtest.Up(allHosts); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	code := m.Run()
	if lab == nil {
		return code
	}
	if err := lab.Down(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

func hang() {
	ctx := context.Background()
	inv, err := reach.Inventory(ctx, os.Getenv(modeHang))
	if err == nil {
		var w *reach.Way
		if w, err = reach.Open(inv.Hosts); err == nil {
			err = w.Connect(ctx)
		}
	}
	fmt.Println("reached:", err)
	select {}
}
