package fleet

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
)

// inspect reads what /proc says of a pid. The error is ErrGone if no process has it, or
// one that has ended and not been waited for.
func inspect(pid int) (process, error) {
	stat, err := readProc(pid, "stat")
	if err != nil {
		return process{}, err
	}
	// The name of the program stands in parentheses and may hold anything. After it come
	// what proc(5) counts as field 3, the state, and field 22, the start in ticks since boot.
	const state, start = 0, 19
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) <= start {
		return process{}, fmt.Errorf("pid %d: /proc/%d/stat is not as proc(5) has it", pid, pid)
	}
	if s := fields[state]; s == "Z" || s == "X" {
		return process{}, fmt.Errorf("%w: pid %d has ended", ErrGone, pid)
	}
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return process{}, fmt.Errorf("pid %d: %w", pid, err)
	}
	command, err := readProc(pid, "cmdline")
	if err != nil {
		return process{}, err
	}
	return process{
		start:   string(bytes.TrimSpace(boot)) + "/" + fields[start],
		command: string(bytes.TrimSpace(bytes.ReplaceAll(command, []byte{0}, []byte{' '}))),
	}, nil
}

func readProc(pid int, file string) ([]byte, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", pid, file))
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, syscall.ESRCH):
		return nil, fmt.Errorf("%w: no pid %d", ErrGone, pid)
	case err != nil:
		return nil, fmt.Errorf("pid %d: %w", pid, err)
	}
	return text, nil
}

// processesOf returns the processes, this one apart, whose arguments match.
func processesOf(pattern *regexp.Regexp) (pids []int, err error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	for _, e := range entries {
		pid, err := strconv.Atoi(e.Name())
		if err != nil || pid == os.Getpid() {
			continue
		}
		if p, err := inspect(pid); err == nil && pattern.MatchString(p.command+" ") { // others are gone, or not ours
			pids = append(pids, pid)
		}
	}
	return pids, nil
}
