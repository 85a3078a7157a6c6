package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/ssmctl/ssmctl/internal/profile"
	"github.com/ssmctl/ssmctl/internal/result"
)

// manifestOf says what is measured, with what and on what.
func manifestOf(p *result.Plan, prof *profile.Profile) result.Manifest {
	hash, err := binaryHash()
	if err != nil {
		hash = "" // the run is good without; it just cannot be resumed
	}
	return result.Manifest{
		Mode: result.Live, Plan: *p, Profile: *prof, Parameters: parametersOf(p, prof, loadUsage),
		Version: versionName(), BinarySHA256: hash, Hosts: []string{"localhost"},
		Kernel: kernelName(), CPU: cpuName(), Cores: runtime.NumCPU(), Go: runtime.Version(), Started: time.Now().UTC(),
	}
}

// simManifestOf says what is simulated. It says nothing of where or when.
func simManifestOf(p *result.Plan, prof *profile.Profile) result.Manifest {
	return result.Manifest{
		Mode: result.Sim, Plan: *p, Profile: *prof, Parameters: parametersOf(p, prof, simUsage), Version: versionName(),
	}
}

// binaryHash identifies this very build.
func binaryHash() (string, error) {
	exe, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find this program: %w", err)
	}
	f, err := os.Open(exe)
	if err != nil {
		return "", fmt.Errorf("read this program: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read this program: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

func kernelName() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return runtime.GOOS
	}
	return unix.ByteSliceToString(u.Sysname[:]) + " " + unix.ByteSliceToString(u.Release[:])
}

func cpuName() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH
	}
	defer func() { _ = f.Close() }() // it was only read
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}
