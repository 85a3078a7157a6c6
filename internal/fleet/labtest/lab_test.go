package labtest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ssmctl/ssmctl/internal/fleet/labtest"
)

// TestLab makes a lab, is on each of its hosts, and looks for what is left of it.
func TestLab(t *testing.T) {
	if why := labtest.Missing(); why != "" {
		t.Skip(why)
	}
	lab, err := labtest.Up(3)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := lab.Down(); err != nil {
			t.Error(err)
		}
	}()
	var pids []string
	for i, h := range lab.Hosts {
		checkHost(t, lab, i)
		all, err := exec.Command("ip", "netns", "pids", h.Name).Output()
		if err != nil {
			t.Error(err)
		}
		pids = append(pids, strings.Fields(string(all))...)
	}
	if err := lab.Remove(); err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		labtest.Await(t, "the end of process "+pid, func() bool {
			_, err := os.Stat("/proc/" + pid)
			return err != nil
		})
	}
	network, _, _ := strings.Cut(lab.Hosts[0].Name, "-") // also the bridge has its name
	left, err := exec.Command("sh", "-c", "ip netns list; ip -o link").CombinedOutput()
	if err != nil || strings.Contains(string(left), network) {
		t.Errorf("%s is left: %v\n%s", network, err, left)
	}
	if _, err := os.Stat(lab.Dir); !os.IsNotExist(err) {
		t.Errorf("the directory is left: %v", err)
	}
}

// checkHost wants a host with a name, a home and a /tmp of its own, in which the others'
// files are not, and leaves a program running there.
func checkHost(t *testing.T, lab *labtest.Lab, i int) {
	t.Helper()
	h := &lab.Hosts[i]
	script := "hostname; ls -A /tmp ~/mine 2>/dev/null; touch /tmp/mine ~/mine; sleep 100 >/dev/null 2>&1 &"
	out, err := exec.Command("ssh", "-F", filepath.Join(lab.Dir, "ssh_config"), "-o", "BatchMode=yes", h.Address, script).CombinedOutput()
	if got := strings.TrimSpace(string(out)); err != nil || !strings.HasPrefix(got, h.Name) || strings.Contains(got, "mine") {
		t.Errorf("%s: %v: %s", h.Name, err, out)
	}
	if len(lab.Processes(t, i)) == 0 {
		t.Errorf("%s: no process, though one was started", h.Name)
	}
}
