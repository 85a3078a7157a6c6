package reach_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/ssmctl/ssmctl/internal/fleet/inventory"
	"github.com/ssmctl/ssmctl/internal/fleet/reach"
)

// here is a host that is this machine, with a home of its own: shipping needs no lab.
func here(t *testing.T, name string) inventory.Host {
	t.Helper()
	home := t.TempDir()
	return inventory.Host{Name: name, Address: name, Via: "env HOME=" + home + " XDG_CACHE_HOME=" + filepath.Join(home, "cache")}
}

func cacheOf(h *inventory.Host) string { return h.Via[strings.LastIndex(h.Via, "=")+1:] }

// files lists what is below a directory, temporary files included.
func files(t *testing.T, dir string) (found []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			found = append(found, path)
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return found
}

// TestShip: kept for the next run, alone in the cache, and it runs.
func TestShip(t *testing.T) {
	t.Parallel()
	h := here(t, "h")
	path, first := ship(t, open(t, h))
	if first.Mode().Perm() != 0o700 {
		t.Errorf("got %v", first.Mode())
	}
	if got := files(t, cacheOf(&h)); !slices.Equal(got, []string{path}) {
		t.Errorf("%q, wanted %s only", got, path)
	}
	w := open(t, h)
	look, err := w.Host("h").Look(t.Context())
	if err != nil || look.Facts.Cores == 0 || look.Clock == nil || look.Clock.RoundTrip <= 0 {
		t.Errorf("%v: %+v", err, look)
	}
	if _, again := ship(t, w); !os.SameFile(first, again) {
		t.Error("it was sent a second time")
	}
}

// TestShipDamaged: once per Way, and the next sends it anew if it is not whole.
func TestShipDamaged(t *testing.T) {
	t.Parallel()
	h := here(t, "h")
	w := open(t, h)
	path, first := ship(t, w)
	if err := os.Truncate(path, 1000); err != nil {
		t.Fatal(err)
	}
	if _, cut := ship(t, w); cut.Size() != 1000 {
		t.Error("one Way has shipped twice")
	}
	if _, whole := ship(t, open(t, h)); whole.Size() != first.Size() {
		t.Error("the damaged one was kept")
	}
}

// TestUncache: all copies go, those of other builds too, and nothing else.
func TestUncache(t *testing.T) {
	t.Parallel()
	h := here(t, "h")
	w := open(t, h)
	ship(t, w)
	other := filepath.Join(cacheOf(&h), "ssmctl", strings.Repeat("0", 64))
	if err := os.MkdirAll(other, 0o700); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(other, "ssmctl"), "")
	kept := filepath.Join(cacheOf(&h), "ssmctl", "notes")
	write(t, kept, "")
	for range 2 { // to do it again does no harm
		if err := w.Host("h").Uncache(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := files(t, cacheOf(&h)); !slices.Equal(got, []string{kept}) {
			t.Errorf("left: %q", got)
		}
	}
	ship(t, w) // it is sent anew
}

// TestStepFails: the error of a step has a line that a person can read and run.
func TestStepFails(t *testing.T) {
	t.Parallel()
	h := here(t, "h")
	h.Via = "env PATH=/none:/bin:/usr/bin HOME=/dev/null TMPDIR=/dev/null XDG_CACHE_HOME=/dev/null"
	h.Via += " sh -c 'case $* in *df*) exit 0;; esac; echo no >&2; exit 3' sh"
	_, err := open(t, h).Host("h").Ship(t.Context())
	var failed *reach.CommandError
	if !errors.As(err, &failed) || failed.Exit != 3 || strings.Contains(failed.Line, "\n") || !strings.Contains(failed.Line, "df -k") {
		t.Errorf("got %v", err)
	}
}

// TestNoState: a host on which nothing can be kept is not ready, and what it is is known all the same.
func TestNoState(t *testing.T) {
	t.Parallel()
	h := here(t, "h")
	h.Env = map[string]string{"XDG_STATE_HOME": "/dev/null"}
	look, err := open(t, h).Host("h").Look(t.Context())
	if err == nil || !strings.Contains(err.Error(), "h: nothing can be kept in /dev/null/ssmctl") || look == nil || look.Clock == nil {
		t.Errorf("%+v, error %v", look, err)
	}
}

// ship returns where the binary is on the host h, and what is there.
func ship(t *testing.T, w *reach.Way) (string, os.FileInfo) {
	t.Helper()
	path, err := w.Host("h").Ship(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, info
}

// TestShipTogether: many at once, and each has a whole one when it returns.
func TestShipTogether(t *testing.T) {
	t.Parallel()
	h := here(t, "h")
	var all sync.WaitGroup
	for range 6 {
		w := open(t, h)
		all.Go(func() {
			if _, err := w.Host("h").Ssmctl(t.Context(), strings.NewReader(""), "host-facts"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got := files(t, cacheOf(&h)); len(got) != 1 {
		t.Errorf("left: %q", got)
	}
}

// TestProgram: the environment and the cpus of the host are those of ssmctl there.
func TestProgram(t *testing.T) {
	t.Parallel()
	h := here(t, "h")
	h.Env, h.CPUs = map[string]string{"B": "2 3", "A": "1"}, "0"
	got, err := open(t, h).Host("h").Program(t.Context(), "agent")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"env", "A=1", "B=2 3", "taskset", "-c", "0"}
	if !slices.Equal(got[:6], want) || got[7] != "agent" {
		t.Errorf("got %q", got)
	}
}

// TestWrongArch: nothing is sent, nothing is made there, and the line that builds the right one is told.
func TestWrongArch(t *testing.T) {
	t.Parallel()
	h := here(t, "h")
	bin := t.TempDir()
	write(t, filepath.Join(bin, "uname"), "#!/bin/sh\necho Linux riscv64\n")
	if err := os.Chmod(filepath.Join(bin, "uname"), 0o700); err != nil {
		t.Fatal(err)
	}
	h.Via = strings.Replace(h.Via, "env ", "env PATH="+bin+":/usr/bin:/bin ", 1)
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, h.Binary = range []string{"", exe} {
		w := open(t, h)
		look, err := w.Host("h").Look(t.Context())
		var wrong *reach.ArchError
		if !errors.As(err, &wrong) || wrong.Has != "linux/riscv64" || wrong.Binary != exe ||
			!strings.Contains(err.Error(), "GOOS=linux GOARCH=riscv64 go build -o ssmctl-linux-riscv64 ./cmd/ssmctl") {
			t.Errorf("got %v", err)
		}
		if look == nil || look.Facts.Arch != "riscv64" || look.Clock != nil {
			t.Errorf("got %+v", look)
		}
	}
	if got, err := os.ReadDir(filepath.Dir(cacheOf(&h))); err != nil || len(got) != 0 {
		t.Errorf("%v: left: %v", err, got)
	}
}

func TestNoBinary(t *testing.T) {
	t.Parallel()
	h := here(t, "h")
	h.Binary = filepath.Join(t.TempDir(), "no")
	write(t, h.Binary, "#!/bin/sh\n")
	if _, err := open(t, h).Host("h").Ship(t.Context()); err == nil || !strings.Contains(err.Error(), "no ssmctl") {
		t.Errorf("got %v", err)
	}
}

func TestReadOnlyHome(t *testing.T) {
	t.Parallel()
	entry := hosts(t)[readOnlyHost]
	w := open(t, entry)
	var notice string
	w.Notices = func(text string) { notice = text }
	h := w.Host(entry.Name)
	for _, c := range []struct{ name, home string }{
		{"read-only", "mount -o remount,bind,ro /root"},
		{"noexec", "mount -o remount,bind,rw,noexec /root"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := h.Run(t.Context(), nil, "sh", "-c", c.home); err != nil {
				t.Fatal(err)
			}
			w := open(t, entry)
			w.Notices = func(text string) { notice = text }
			path, err := w.Host(entry.Name).Ship(t.Context())
			if err != nil || !strings.HasPrefix(path, "/tmp/ssmctl-0/") || !strings.Contains(notice, "/tmp/ssmctl-0") {
				t.Errorf("%v: %s: %s", err, path, notice)
			}
			if info, err := os.Stat(filepath.Join(lab.Temp(readOnlyHost), "ssmctl-0")); err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("%v: %v", err, info)
			}
		})
	}
	if _, err := h.Run(t.Context(), nil, "sh", "-c", "mount -o remount,bind,rw,exec /root"); err != nil {
		t.Error(err)
	}
	if got := files(t, lab.Home(readOnlyHost)); slices.ContainsFunc(got, func(path string) bool { return strings.Contains(path, ".ship") }) {
		t.Errorf("left: %q", got)
	}
}

func TestFullDisk(t *testing.T) {
	t.Parallel()
	entry := hosts(t)[fullHost]
	h := open(t, entry).Host(entry.Name)
	if _, err := h.Run(t.Context(), nil, "sh", "-c", "mkdir -p ~/.cache && mount -t tmpfs -o size=2m full ~/.cache"); err != nil {
		t.Fatal(err)
	}
	_, err := h.Ship(t.Context())
	var failed *reach.CommandError
	if !errors.As(err, &failed) || !strings.Contains(failed.Hint, "disk is full") || !strings.Contains(failed.Stderr, "No space left on device") {
		t.Errorf("got %v", err)
	}
	left, err := h.Run(t.Context(), nil, "sh", "-c", "find ~/.cache -type f; ls ~/.cache/ssmctl; umount ~/.cache")
	if err != nil || len(left) > 0 {
		t.Errorf("%v: left: %s", err, left)
	}
	if _, err := h.Ship(t.Context()); err != nil {
		t.Errorf("with room again: %v", err)
	}
}
