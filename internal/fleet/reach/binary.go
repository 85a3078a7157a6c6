package reach

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"github.com/ssmctl/ssmctl/internal/fleet/self"
)

// binary is a program to ship.
type binary struct {
	name         string // its file, for people
	sum          string // SHA-256 in hex
	goos, goarch string
	open         func() (*os.File, error)
}

// binaries knows each file that has been asked for; "" is the running program.
type binaries struct {
	mu    sync.Mutex
	known map[string]*binary
}

func (bs *binaries) of(path string) (*binary, error) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if b := bs.known[path]; b != nil {
		return b, nil
	}
	b, err := newBinary(path)
	if err != nil {
		return nil, err
	}
	if bs.known == nil {
		bs.known = make(map[string]*binary)
	}
	bs.known[path] = b
	return b, nil
}

func newBinary(path string) (*binary, error) {
	b := &binary{name: path, goos: runtime.GOOS, goarch: runtime.GOARCH, open: self.Open}
	if path == "" {
		b.name = "this ssmctl"
		if exe, err := os.Executable(); err == nil {
			b.name = exe
		}
	} else {
		b.open = func() (*os.File, error) { return os.Open(path) }
	}
	f, err := b.open()
	if err != nil {
		return nil, fmt.Errorf("the binary to ship: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	if path != "" {
		if err := b.readSystem(f); err != nil {
			return nil, err
		}
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, f); err != nil {
		return nil, fmt.Errorf("the binary to ship: %w", err)
	}
	b.sum = hex.EncodeToString(hash.Sum(nil))
	return b, nil
}

// readSystem takes from the file what it was built for.
func (b *binary) readSystem(f *os.File) error {
	info, err := buildinfo.Read(f)
	if err != nil {
		return fmt.Errorf("%s: no ssmctl: %w", b.name, err)
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS":
			b.goos = s.Value
		case "GOARCH":
			b.goarch = s.Value
		}
	}
	_, err = f.Seek(0, io.SeekStart)
	return err
}
