package reach

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/kballard/go-shellquote"
)

// form is what a way does with the words of a command.
type form int

const (
	plain   form = iota // they arrive as they are: kubectl exec, docker exec, srun, ip netns exec
	shelled             // they are joined by blanks and a shell splits them again: sudo ssh, tsh ssh
	openSSH             // shelled, and the options of the OpenSSH client are understood
)

// formOf tells by the names of the programs. One called ssh anywhere in the way goes
// through a shell, and as the first word it is taken for the OpenSSH client.
func formOf(words []string) form {
	isSSH := func(word string) bool { return filepath.Base(word) == "ssh" }
	switch {
	case isSSH(words[0]):
		return openSSH
	case slices.ContainsFunc(words, isSSH):
		return shelled
	default:
		return plain
	}
}

// configVariable names another configuration for ssh than the user's own.
const configVariable = "SSMCTL_SSH_CONFIG"

// dialWithin and the keepalives bound how long a host that went silent is waited for: 10 s
// before there is a connection, 15 s after.
const (
	dialWithin   = "10"
	keepalive    = "5"
	keepaliveMax = "3"
)

// sshOptions go before the host, so that what the way itself says comes first and wins.
// Everything else is as the user has configured it; host keys are checked as ever.
func (h *Host) sshOptions() []string {
	var options []string
	if path := os.Getenv(configVariable); path != "" {
		options = append(options, "-F", path)
	}
	if h.User != "" {
		options = append(options, "-l", h.User)
	}
	if h.Port != 0 {
		options = append(options, "-p", strconv.Itoa(h.Port))
	}
	if h.Identity != "" {
		options = append(options, "-i", h.Identity)
	}
	return append(options, "-T",
		"-o", "BatchMode=yes", // a question would wait for an answer in every one of many connections
		"-o", "ConnectTimeout="+dialWithin,
		"-o", "ServerAliveInterval="+keepalive, "-o", "ServerAliveCountMax="+keepaliveMax,
		"-o", "ClearAllForwardings=yes", "-o", "RemoteCommand=none", // what is configured for people's sessions
		"-o", "LogLevel=ERROR") // without the host's banner
}

// argvOf returns the words of a command here. With a socket it goes through the
// connection behind it, or makes one there.
func (h *Host) argvOf(socket string, argv []string) []string {
	words := slices.Clone(h.words)
	if h.form == openSSH {
		at := h.target
		if at <= 0 {
			at = 1
		}
		options := h.sshOptions()
		if socket != "" {
			options = append(options, "-o", "ControlMaster=auto", "-o", "ControlPath="+socket, "-o", "ControlPersist="+persist)
		}
		words = slices.Insert(words, at, options...)
	}
	if h.form != plain {
		argv = []string{shellquote.Join(argv...)}
	}
	return append(words, argv...)
}

// line is the command ready to be run by hand: as it is run, but for the control socket,
// which is gone with this process.
func (h *Host) line(argv []string) string { return shellquote.Join(h.argvOf("", argv)...) }

// outputWithin is how long output is waited for after the end of a command: what it has
// left behind may hold it open.
const outputWithin = time.Second

// command prepares a command. It is out of reach of the terminal's signals: its end is
// the end of its standard input, or of ctx.
func (h *Host) command(ctx context.Context, s *session, argv []string) *exec.Cmd {
	words := h.argvOf(s.socket(), argv)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.WaitDelay = outputWithin
	return cmd
}

// sshConfig asks ssh how it would reach the host: its options in lower case. It is nil
// if there is no answer, or it is not the OpenSSH client.
func (h *Host) sshConfig(ctx context.Context) map[string]string {
	if h.form != openSSH {
		return nil
	}
	words := slices.Insert(slices.Clone(h.words), max(h.target, 1), append(h.sshOptions(), "-G")...)
	out, err := exec.CommandContext(ctx, words[0], words[1:]...).Output()
	if err != nil {
		return nil
	}
	config := make(map[string]string)
	for line := range bytes.Lines(out) {
		key, value, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		config[key] = value
	}
	return config
}

// jumps reports whether another program or host makes the connection.
func jumps(config map[string]string) bool {
	for _, key := range []string{"proxyjump", "proxycommand"} {
		if v := config[key]; v != "" && v != "none" {
			return true
		}
	}
	return false
}

// expandHome resolves ~/ as a shell does. Without a home it stays, and will not be found.
func expandHome(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return filepath.Join(home, rest)
}
