package reach_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ssmctl/ssmctl/internal/fleet/inventory"
	"github.com/ssmctl/ssmctl/internal/fleet/reach"
)

// knowing returns a configuration of ssh as the lab's, with other known hosts: those
// lines of the lab's that change does not drop, and as it changes them.
func knowing(t *testing.T, change func(line string) string) (config, known string) {
	t.Helper()
	dir := t.TempDir()
	text := read(t, filepath.Join(lab.Dir, "known_hosts"))
	var lines strings.Builder
	for line := range strings.Lines(text) {
		lines.WriteString(change(line))
	}
	config, known = filepath.Join(dir, "config"), filepath.Join(dir, "known")
	write(t, known, lines.String())
	write(t, config, strings.ReplaceAll(read(t, filepath.Join(lab.Dir, "ssh_config")), filepath.Join(lab.Dir, "known_hosts"), known))
	return config, known
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// via makes all hosts reached by ssh with a configuration and more options.
func via(hosts []inventory.Host, config, options string) []inventory.Host {
	for i := range hosts {
		hosts[i].Via = fmt.Sprintf("ssh -F '%s' %s {host}", config, options)
	}
	return hosts
}

// connectFails wants a *reach.HostsError and returns it.
func connectFails(t *testing.T, hosts ...inventory.Host) *reach.HostsError {
	t.Helper()
	var failed *reach.HostsError
	if err := open(t, hosts...).Connect(t.Context()); !errors.As(err, &failed) {
		t.Fatalf("got %v", err)
	}
	return failed
}

// TestUnknownKeys: all are told together, and the lines that are printed make them known.
func TestUnknownKeys(t *testing.T) {
	t.Parallel()
	all := hosts(t)[:3]
	config, known := knowing(t, func(line string) string {
		if strings.HasPrefix(line, all[0].Name) {
			return line
		}
		return ""
	})
	via(all, config, "")
	failed := connectFails(t, all...)
	text := failed.Error()
	if len(failed.Unknown) != 2 || len(failed.Failures) != 2 || !strings.Contains(text, "2 of 3 hosts") ||
		!strings.Contains(text, "unknown host keys: "+all[1].Name+", "+all[2].Name+":") {
		t.Errorf("got %s", text)
	}
	scan := "ssh-keyscan -p 22 " + all[1].Address + " " + all[2].Address
	if !strings.Contains(text, scan+" >") {
		t.Fatalf("no %s in %s", scan, text)
	}
	if strings.Contains(read(t, known), all[1].Address) {
		t.Error("a key was made known that nobody has agreed to")
	}
	keys, err := exec.Command("sh", "-c", scan).Output()
	if err != nil {
		t.Fatal(err)
	}
	write(t, known, read(t, known)+string(keys))
	if err := open(t, all...).Connect(t.Context()); err != nil {
		t.Errorf("with the keys that were fetched: %v", err)
	}
}

func TestChangedKey(t *testing.T) {
	t.Parallel()
	all := hosts(t)[:2]
	config, _ := knowing(t, func(line string) string { // everybody has the key of the first
		_, key, _ := strings.Cut(read(t, filepath.Join(lab.Dir, "known_hosts")), " ")
		key, _, _ = strings.Cut(key, "\n")
		name, _, _ := strings.Cut(line, " ")
		return name + " " + key + "\n"
	})
	via(all, config, "")
	failed := connectFails(t, all[:2]...)
	if text := failed.Error(); len(failed.Failures) != 1 || len(failed.Unknown) != 0 ||
		!strings.Contains(text, "is not the one that is known") || !strings.Contains(text, `-R "`+all[1].Address) {
		t.Errorf("got %s", text)
	}
}

func TestRefused(t *testing.T) {
	for name, c := range map[string]struct {
		host   int
		sshd   string
		change func(h *inventory.Host)
		want   string
	}{
		"password": {passwordHost, "PubkeyAuthentication no\nPasswordAuthentication yes", nil, "it takes a password"},
		"no key":   {keylessHost, "AuthorizedKeysFile none", nil, "it does not take the key"},
		"port":     {anyHost, "", func(h *inventory.Host) { h.Port = 23 }, "nothing listens there"},
		"name":     {anyHost, "", func(h *inventory.Host) { h.Address = "no-such-host.invalid" }, "no such name"},
		"nobody":   {anyHost, "", func(h *inventory.Host) { h.Address += "99" }, "does not answer"},
		"no ssh":   {anyHost, "", func(h *inventory.Host) { h.Via = "ssh-that-is-not-there {host}" }, "is not installed here"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := hosts(t)[c.host]
			if c.sshd != "" {
				lab.Configure(t, c.host, c.sshd)
			}
			if c.change != nil {
				c.change(&h)
			}
			failed := connectFails(t, h)
			if text := failed.Error(); !strings.Contains(text, c.want) || !strings.Contains(text, "to see it again: "+strings.Fields(h.Via)[0]) {
				t.Errorf("no %q in: %s", c.want, text)
			}
		})
	}
}

// TestMaxStartups: an sshd that takes three at a time, and ten hosts behind it.
func TestMaxStartups(t *testing.T) {
	t.Parallel()
	h := hosts(t)[busyHost]
	lab.Configure(t, busyHost, "MaxStartups 3")
	all := make([]inventory.Host, 10)
	for i := range all {
		all[i] = h
		all[i].Name = fmt.Sprint("h", i)
	}
	if err := open(t, all...).Connect(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestJump: a host behind another, and one whose key is not known on the way.
func TestJump(t *testing.T) {
	t.Parallel()
	all := hosts(t)[jumpHost:]
	jump := strings.Count(lab.Log(t, jumpHost), "Accepted publickey")
	via(all, filepath.Join(lab.Dir, "ssh_config"), "-J "+all[0].Name)
	w := open(t, all[1])
	if out, err := w.Host(all[1].Name).Run(t.Context(), nil, "hostname"); err != nil || strings.TrimSpace(string(out)) != all[1].Name {
		t.Errorf("%v: %s", err, out)
	}
	if got := strings.Count(lab.Log(t, jumpHost), "Accepted publickey"); got != jump+1 {
		t.Errorf("%d connections to the host on the way, wanted one", got-jump)
	}
	config, _ := knowing(t, func(line string) string {
		if strings.HasPrefix(line, all[0].Name) {
			return ""
		}
		return line
	})
	via(all, config, "-J "+all[0].Name)
	failed := connectFails(t, all[1])
	if text := failed.Error(); len(failed.Unknown) != 1 || strings.Contains(text, "ssh-keyscan") || !strings.Contains(text, "-J "+all[0].Name) {
		t.Errorf("got %s", text)
	}
}

func TestIPv6(t *testing.T) {
	t.Parallel()
	h := hosts(t)[1]
	for _, field := range strings.FieldsFunc(read(t, filepath.Join(lab.Dir, "known_hosts")), func(r rune) bool { return r == ',' || r == ' ' }) {
		if strings.HasPrefix(field, "fd77:") && strings.HasSuffix(field, "::2") {
			h.Address = field
		}
	}
	w := open(t, h)
	out, err := w.Host(h.Name).Run(t.Context(), nil, "sh", "-c", "echo $SSH_CONNECTION")
	if words := strings.Fields(string(out)); err != nil || len(words) != 4 || words[2] != h.Address {
		t.Errorf("%v: %s", err, out)
	}
}

// TestOwnConfig: what the variable names stands in the place of the user's own.
func TestOwnConfig(t *testing.T) {
	h := hosts(t)[1]
	h.Via = inventory.DefaultVia
	t.Setenv("SSMCTL_SSH_CONFIG", filepath.Join(lab.Dir, "ssh_config"))
	if err := open(t, h).Connect(t.Context()); err != nil {
		t.Error(err)
	}
}
