package secure

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

func newAuthority(t *testing.T) *Authority {
	t.Helper()
	a, err := NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func issue(t *testing.T, a *Authority) *Keys {
	t.Helper()
	keys, err := a.Issue("test")
	if err != nil {
		t.Fatal(err)
	}
	return &keys
}

// An authority that was kept goes on making members of the same cluster.
func TestKeep(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "state", "keys")
	path := filepath.Join(dir, "authority.pem")
	if _, err := Kept(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("nothing is kept, and the error is %v", err)
	}
	a := newAuthority(t)
	if err := a.Keep(path); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{dir: 0o700, path: 0o600} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v, error %v, want %v", path, info.Mode(), err, want)
		}
	}
	again, err := Kept(path)
	if err != nil {
		t.Fatal(err)
	}
	if serverErr, clientErr := meet(t, issue(t, a), issue(t, again)); serverErr != nil || clientErr != nil {
		t.Errorf("members from before and after do not speak: %v, %v", serverErr, clientErr)
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := Kept(path); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("others may read the key, and the error is %v", err)
	}
}

// A file that is no authority is an error, whatever is wrong with it.
func TestKeptOfSomethingElse(t *testing.T) {
	t.Parallel()
	a, b := issue(t, newAuthority(t)), issue(t, newAuthority(t))
	for name, text := range map[string][]byte{
		"nothing":       nil,
		"text":          []byte("secret"),
		"no key":        a.Cert,
		"two keys":      append(bytes.Clone(a.Key), a.Key...),
		"another's key": append(bytes.Clone(a.Cert), b.Key...),
		"cut short":     append(bytes.Clone(a.Cert), a.Key[:len(a.Key)-40]...),
	} {
		path := filepath.Join(t.TempDir(), "authority.pem")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Kept(path); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Keys pass through JSON whole, and show nothing in any other form.
func TestKeysOutside(t *testing.T) {
	t.Parallel()
	keys := issue(t, newAuthority(t))
	text, err := json.Marshal(keys)
	if err != nil {
		t.Fatal(err)
	}
	var back Keys
	if err := json.Unmarshal(text, &back); err != nil || !bytes.Equal(back.Key, keys.Key) || !back.Same(keys) {
		t.Errorf("not the same keys came back, error %v", err)
	}
	var log bytes.Buffer
	slog.New(slog.NewTextHandler(&log, nil)).Info("test", "keys", keys, "value", *keys)
	holder := struct{ K Keys }{*keys}
	for _, shown := range []string{
		log.String(), fmt.Sprint(keys), fmt.Sprintf("%+v %#v %s", keys, *keys, *keys), fmt.Sprintf("%v %#v", holder, holder),
	} {
		if len(shown) > 400 || bytes.Contains([]byte(shown), []byte("PRIVATE")) {
			t.Errorf("shown: %s", shown)
		}
	}
}

// Broken keys are an error before anything listens or dials; nil ones are plaintext.
func TestBrokenKeys(t *testing.T) {
	t.Parallel()
	whole, other := issue(t, newAuthority(t)), issue(t, newAuthority(t))
	for name, k := range map[string]*Keys{
		"empty":         {},
		"no authority":  {Cert: whole.Cert, Key: whole.Key},
		"no key":        {CA: whole.CA, Cert: whole.Cert},
		"another's key": {CA: whole.CA, Cert: whole.Cert, Key: other.Key},
	} {
		if cfg, err := k.Server(); err == nil || cfg != nil {
			t.Errorf("%s: a server, error %v", name, err)
		}
		if cfg, err := k.Client(); err == nil || cfg != nil {
			t.Errorf("%s: a client, error %v", name, err)
		}
	}
	var none *Keys
	if cfg, err := none.Server(); err != nil || cfg != nil {
		t.Errorf("nil keys: %v, error %v", cfg, err)
	}
	if !none.Same(nil) || none.Same(whole) || whole.Same(nil) || whole.Same(other) {
		t.Error("Same is wrong")
	}
}
