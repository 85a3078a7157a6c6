package sim

import (
	"testing"
	"time"

	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/result"
)

// testConfig is the published set-up, in levels that are no longer than a test can bear.
func testConfig(t testing.TB, machines []int, protection ...string) *Config {
	t.Helper()
	p, err := profile.ByName("nsdi04")
	if err != nil {
		t.Fatal(err)
	}
	return &Config{Profile: p, Run: "test", Plan: result.Plan{
		Machines: machines, Protection: protection, Policies: []string{"aimd"}, Threads: 12,
		Duration: 10 * time.Second, Warmup: 5 * time.Second, Timeout: 60 * time.Millisecond,
		W: 3, WQ: 2, R: 1, Size: 8192, Profile: p.Name, Bricks: 8, Seed: 1,
	}}
}
