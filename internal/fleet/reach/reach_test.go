package reach

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/ssmctl/ssmctl/internal/fleet/inventory"
)

func hostOf(t *testing.T, entry *inventory.Host) *Host {
	t.Helper()
	h, err := newHost(&Way{gate: make(chan struct{}, mostDials)}, entry)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// TestArgv: what is run here, so that the words arrive there.
func TestArgv(t *testing.T) {
	t.Setenv(configVariable, "")
	argv := []string{"echo", "a b"}
	for via, want := range map[string]string{
		"kubectl exec -i {host} --":                "kubectl exec -i 10.0.0.1 -- echo|a b",
		"docker exec -i {name}":                    "docker exec -i b1 echo|a b",
		"srun --nodelist={name} -n1":               "srun --nodelist=b1 -n1 echo|a b",
		"ip netns exec {name}":                     "ip netns exec b1 echo|a b",
		"tsh ssh {host}":                           "tsh ssh 10.0.0.1 echo 'a b'|",
		"/usr/bin/ssh -o ConnectTimeout=60 {host}": "/usr/bin/ssh -o ConnectTimeout=60 OPTIONS 10.0.0.1 echo 'a b'|",
		"ssh alias":                                "ssh OPTIONS alias echo 'a b'|",
	} {
		h := hostOf(t, &inventory.Host{Name: "b1", Address: "10.0.0.1", User: "joe", Port: 2222, Identity: "/k", Via: via})
		got := strings.Join(h.argvOf("", argv), " ")
		options := strings.Join(h.sshOptions(), " ")
		want = strings.ReplaceAll(strings.ReplaceAll(want, "OPTIONS", options), "echo|a b", "echo a b")
		if want = strings.TrimSuffix(want, "|"); got != want {
			t.Errorf("%s:\n got %s\nwant %s", via, got, want)
		}
		for _, part := range []string{"-l joe -p 2222 -i /k", "BatchMode=yes"} {
			if strings.Contains(want, options) && !strings.Contains(got, part) {
				t.Errorf("%s: no %s in %s", via, part, got)
			}
		}
	}
}

// TestCheckingStays: nothing that is put before a host weakens the check of its key.
func TestCheckingStays(t *testing.T) {
	h := hostOf(t, &inventory.Host{Name: "b1", Address: "10.0.0.1", Via: "ssh {host}"})
	for _, word := range h.argvOf("/s", []string{"true"}) {
		if strings.Contains(word, "HostKey") || strings.Contains(word, "KnownHosts") {
			t.Errorf("%s", word)
		}
	}
}

// TestCauses: what OpenSSH and others say, and whether another try may do.
func TestCauses(t *testing.T) {
	h := hostOf(t, &inventory.Host{Name: "b1", Address: "10.0.0.1", Via: "ssh {host}"})
	for said, want := range map[string]struct {
		hint         string
		passing, key bool
	}{
		"Host key verification failed.": {"is unknown", false, true},
		"No ED25519 host key is known for b1 and you have requested strict checking.\r\nHost key verification failed.":           {"is unknown", false, true},
		"@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\n" + strings.Repeat("...\n", 12) + "Host key verification failed.": {"not the one", false, false},
		"root@b1: Permission denied (publickey,password).":                                                                       {"takes a password", false, false},
		"root@b1: Permission denied (publickey).":                                                                                {"does not take the key", false, false},
		"ssh: connect to host b1 port 22: No route to host":                                                                      {"does not answer", false, false},
		"ssh: connect to host b1 port 22: Connection timed out":                                                                  {"does not answer", false, false},
		"ssh: connect to host b1 port 22: Connection refused":                                                                    {"nothing listens", false, false},
		"ssh: Could not resolve hostname b1: Name or service not known":                                                          {"no such name", false, false},
		"kex_exchange_identification: read: Connection reset by peer\nConnection reset by 10.0.0.1 port 22":                      {"MaxStartups", true, false},
		"kex_exchange_identification: Connection closed by remote host":                                                          {"MaxStartups", true, false},
		"error: unable to upgrade connection: container not found":                                                               {"", true, false},
		"cat: write error: No space left on device":                                                                              {"disk is full", false, false},
		"sh: 1: nonsense": {"", false, false},
	} {
		errs := &tail{}
		if _, err := errs.Write([]byte(said)); err != nil {
			t.Fatal(err)
		}
		e := h.failure([]string{"true"}, errors.New("exit status 255"), errs)
		if e.cause.passing != want.passing || e.cause.key != want.key || !strings.Contains(e.Hint, want.hint) || want.hint == "" && e.Hint != "" {
			t.Errorf("%s: got %+v, %s", said, e.cause, e.Hint)
		}
	}
}

// TestExits: what a shell's exit codes say.
func TestExits(t *testing.T) {
	h := hostOf(t, &inventory.Host{Name: "b1", Via: "env"})
	for program, want := range map[string]string{"/nowhere/prog": "/nowhere/prog is not there", "/dev/null": "noexec"} {
		_, err := h.Run(t.Context(), nil, program)
		var failed *CommandError
		if !errors.As(err, &failed) || !strings.Contains(failed.Hint, want) {
			t.Errorf("got %v", err)
		}
	}
}

// TestRetry: as long as it may pass, but not for ever, and not against the context.
func TestRetry(t *testing.T) {
	passing := &CommandError{cause: cause{passing: true}, Err: errors.New("closed")}
	for name, c := range map[string]struct {
		fails []error
		tries int
		want  error
	}{
		"at once": {nil, 1, nil},
		"third":   {[]error{passing, passing}, 3, nil},
		"final":   {[]error{passing, exec.ErrNotFound}, 2, exec.ErrNotFound},
		"never":   {slices.Repeat([]error{passing}, 20), mostTries, passing},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tries := 0
				err := retry(t.Context(), func() error {
					tries++
					if tries <= len(c.fails) {
						return c.fails[tries-1]
					}
					return nil
				})
				if tries != c.tries || !errors.Is(err, c.want) {
					t.Errorf("%d tries: %v", tries, err)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		err := retry(ctx, func() error {
			cancel()
			return passing
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

func TestSystems(t *testing.T) {
	for system := range map[string]bool{"linux/amd64": true, "linux/arm64": true, "darwin/arm64": true, "linux/386": true, "linux/mips": true} {
		b := &binary{}
		b.goos, b.goarch, _ = strings.Cut(system, "/")
		for _, uname := range strings.Split(strings.Trim(b.systems(), "|"), "|") {
			if goos, goarch := SystemOf(uname + "\n"); goos+"/"+goarch != system {
				t.Errorf("%s is %s/%s, wanted %s", uname, goos, goarch, system)
			}
		}
	}
}

// TestTail: it keeps the end, however much is written.
func TestTail(t *testing.T) {
	errs := &tail{}
	for i := range 10000 {
		if _, err := fmt.Fprintf(errs, "line %d\r\n", i); err != nil {
			t.Fatal(err)
		}
	}
	text := lastLines(errs.text())
	if lines := strings.Split(text, "\n"); len(lines) != tailLines || lines[tailLines-1] != "line 9999" || lines[0] != "line 9992" {
		t.Errorf("got %s", text)
	}
}
