package reach

import (
	"fmt"
	"slices"
	"strings"
)

// The names that uname gives to what Go builds for.
var (
	kernels  = map[string]string{"linux": "Linux", "darwin": "Darwin", "freebsd": "FreeBSD", "netbsd": "NetBSD", "openbsd": "OpenBSD"}
	machines = map[string][]string{
		"amd64":   {"x86_64", "amd64"},
		"arm64":   {"aarch64", "arm64"},
		"arm":     {"armv7l", "armv6l", "armv8l", "arm"},
		"386":     {"i686", "i586", "i386"},
		"riscv64": {"riscv64"},
		"ppc64le": {"ppc64le"},
		"s390x":   {"s390x"},
		"loong64": {"loongarch64"},
	}
)

// systems lists what uname -sm says where the binary runs, each between bars.
func (b *binary) systems() string {
	kernel, ok := kernels[b.goos]
	if !ok {
		kernel = b.goos
	}
	names, ok := machines[b.goarch]
	if !ok {
		names = []string{b.goarch}
	}
	text := "|"
	for _, name := range names {
		text += kernel + " " + name + "|"
	}
	return text
}

// SystemOf names, as Go does, the system of which uname -sm says this. What is not known
// is returned as it is.
func SystemOf(uname string) (goos, goarch string) {
	goos, goarch, _ = strings.Cut(strings.TrimSpace(uname), " ")
	for name, kernel := range kernels {
		if kernel == goos {
			goos = name
			break
		}
	}
	for name, all := range machines {
		if slices.Contains(all, goarch) {
			return goos, name
		}
	}
	return goos, goarch
}

// ArchError says that a binary does not run on its host, and how to make the one that does.
type ArchError struct {
	Host   string
	Has    string // the host's system, as os/arch
	Binary string // the file
	For    string // what it was built for, as os/arch
}

func newArchError(h *Host, b *binary, uname string) *ArchError {
	goos, goarch := SystemOf(uname)
	return &ArchError{Host: h.Name, Has: goos + "/" + goarch, Binary: b.name, For: b.goos + "/" + b.goarch}
}

func (e *ArchError) Error() string {
	goos, goarch, _ := strings.Cut(e.Has, "/")
	file := "ssmctl-" + goos + "-" + goarch
	return fmt.Sprintf("%s: it is %s, and %s was built for %s: in the source of ssmctl\n"+
		"  CGO_ENABLED=0 GOOS=%s GOARCH=%s go build -o %s ./cmd/ssmctl\n  and say binary: ./%s in its entry",
		e.Host, e.Has, e.Binary, e.For, goos, goarch, file, file)
}
