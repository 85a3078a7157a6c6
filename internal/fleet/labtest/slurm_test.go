package labtest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ssmctl/ssmctl/internal/fleet/labtest"
)

// TestSlurm makes a Slurm cluster, runs something on each node, leaves something running
// there, and looks for what is left of it all.
func TestSlurm(t *testing.T) {
	if why := labtest.MissingSlurm(); why != "" {
		t.Skip(why)
	}
	s, err := labtest.UpSlurm(2)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("SLURM_CONF", s.Config)
	for _, node := range []string{"n1", "n2"} {
		script := "echo $SLURMD_NODENAME; setsid sleep 100 >/dev/null 2>&1 </dev/null &"
		out, err := exec.Command("srun", "--nodelist="+node, "sh", "-c", script).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != node {
			t.Errorf("on %s: %v: %s", node, err, got)
		}
	}
	pids, err := s.Processes()
	if err != nil || len(pids) < 2 {
		t.Errorf("2 sleeps were started, found %v, %v", pids, err)
	}
	if err := s.Down(); err != nil {
		t.Fatal(err)
	}
	if pids, err = s.Processes(); err != nil || len(pids) > 0 {
		t.Errorf("left: %v, %v", pids, err)
	}
	if _, err := os.Stat(filepath.Dir(s.Config)); !os.IsNotExist(err) {
		t.Errorf("the directory is left: %v", err)
	}
}
