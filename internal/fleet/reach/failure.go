package reach

import (
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
)

// CommandError says that a command on a host did not do what it should, or that the host
// was not reached.
type CommandError struct {
	Host   string
	Line   string // the command, ready to be run by hand
	Stderr string // the last lines of its standard error
	Exit   int    // -1 if it did not run or was ended by a signal
	Hint   string // what to do next; may be empty
	Err    error

	cause cause
}

func (e *CommandError) Error() string {
	text := e.Host + ": " + e.reason()
	if e.Hint != "" {
		text += "\n  " + strings.ReplaceAll(e.Hint, "\n", "\n  ")
	}
	return text + "\n  to see it again: " + e.Line
}

// reason is the last words of the command, or how it ended.
func (e *CommandError) reason() string {
	if e.Stderr == "" {
		return e.Err.Error()
	}
	return strings.ReplaceAll(e.Stderr, "\n", "\n  ")
}

// Unwrap returns the cause.
func (e *CommandError) Unwrap() error { return e.Err }

// Unreached reports whether the program never ran, for want of a connection.
func (e *CommandError) Unreached() bool { return e.cause.unreached }

// cause is what the messages of the usual programs mean.
type cause struct {
	says      *regexp.Regexp
	hint      string
	passing   bool // another try may do
	unreached bool
	key       bool // the host's key is unknown
}

// causes are looked through in this order: the first that fits is the root of the others.
var causes = []cause{
	{
		says:      regexp.MustCompile(`HOST IDENTIFICATION HAS CHANGED`),
		hint:      "its host key is not the one that is known: if it was set up anew, remove the old key as ssh says, and meet it again; if not, something else answers in its place",
		unreached: true,
	},
	{
		says:      regexp.MustCompile(`Host key verification failed|host key is known for`),
		hint:      "its host key, or that of a host on the way, is unknown: run the command below without BatchMode, compare, and say yes",
		unreached: true, key: true,
	},
	{
		says:      regexp.MustCompile(`Permission denied \([^)]*(password|keyboard-interactive)`),
		hint:      "it takes a password, and nobody is there to type it: put a key there with ssh-copy-id; a key with a passphrase belongs into ssh-agent",
		unreached: true,
	},
	{
		says:      regexp.MustCompile(`Permission denied \(|Too many authentication failures`),
		hint:      "it does not take the key: name user: and identity: in its entry, or put the key there with ssh-copy-id",
		unreached: true,
	},
	{
		says:      regexp.MustCompile(`Could not resolve hostname|Name or service not known`),
		hint:      "no such name: give it address: in its entry",
		unreached: true,
	},
	{
		says:      regexp.MustCompile(`No route to host|Network is unreachable|timed out|not responding`),
		hint:      "it does not answer: see that it is up, and its address right",
		unreached: true,
	},
	{
		says:      regexp.MustCompile(`Connection refused`),
		hint:      "nothing listens there: see that sshd runs, and that its port is right",
		unreached: true,
	},
	{
		says:      regexp.MustCompile(`kex_exchange_identification|Connection (closed|reset) by|Broken pipe|Not allowed at this time`),
		hint:      "the connection was closed: sshd takes few at a time (MaxStartups), or does not take this address",
		unreached: true, passing: true,
	},
	{
		says:      regexp.MustCompile(`Temporary failure in name resolution|error dialing backend|unable to upgrade connection|TLS handshake timeout`),
		unreached: true, passing: true,
	},
	{
		says:      regexp.MustCompile(`Requested nodes are busy|Immediate execution impossible`),
		hint:      "Slurm has no room for a job there now: take an allocation with salloc, and name it with --hosts slurm:job=ID",
		unreached: true,
	},
	{
		says:      regexp.MustCompile(`Requested node configuration is not available|Invalid job id|Slurm job \d+ has expired|Job/step already completing`),
		hint:      "the host is not part of the allocation, or that has ended: see squeue; ssmctl clean --via CMD cleans up by another way",
		unreached: true,
	},
	{
		says:      regexp.MustCompile(`No such container|[Cc]ontainer \S+ is not running`),
		hint:      "docker knows no such running container: docker ps lists them; {host} is the address, and {name} the name of the entry: write docker exec -i {name}",
		unreached: true,
	},
	{
		says:      regexp.MustCompile(`Cannot open network namespace`),
		hint:      "no such network namespace: ip netns list lists them; {host} is the address, and {name} the name of the entry: write ip netns exec {name}",
		unreached: true,
	},
	{
		says: regexp.MustCompile(`No space left on device|Disk quota exceeded`),
		hint: "its disk is full: free some space there, or set XDG_CACHE_HOME to another disk in what its shell reads; env: {XDG_STATE_HOME: DIR} in its entry moves what is kept there",
	},
	{
		says: regexp.MustCompile(`Read-only file system`),
		hint: "it is read-only there: env: {XDG_STATE_HOME: DIR} in its entry names another place for what is kept",
	},
	{
		says: regexp.MustCompile(`set XDG_STATE_HOME to a directory`),
		hint: "on that host: env: {XDG_STATE_HOME: DIR} in its entry names another place",
	},
}

// The exit codes of a shell, and of those who behave like one.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

// failure says what became of a command, by what it has left on its standard error.
func (h *Host) failure(argv []string, err error, errs *tail) *CommandError {
	stderr := errs.text()
	e := &CommandError{Host: h.Name, Line: h.line(argv), Stderr: lastLines(stderr), Exit: -1, Err: err}
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		e.Exit = exit.ExitCode()
	}
	if errors.Is(err, exec.ErrNotFound) {
		e.Hint = fmt.Sprintf("%s is not installed here", h.words[0])
		return e
	}
	for _, c := range causes {
		if c.says.MatchString(stderr) {
			e.cause = c
			e.Hint = c.hint
			return e
		}
	}
	switch e.Exit {
	case exitNotFound:
		e.Hint = fmt.Sprintf("%s is not there, or not in the PATH of a shell that nobody types into", argv[0])
	case exitNotExecutable:
		e.Hint = fmt.Sprintf("%s may not be run there: its disk may be mounted noexec", argv[0])
	}
	return e
}
