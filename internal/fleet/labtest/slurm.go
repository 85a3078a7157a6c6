package labtest

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// The ports that tests choose from, below those that the system gives to others: a range
// for each lab of Slurm, the controller's first.
const (
	firstSlurmPort = 27000
	slurmPorts     = 60
	mostSlurms     = 50
)

// Slurm is a Slurm cluster of this machine, as scripts/slurm-lab makes one.
type Slurm struct {
	Config string // what SLURM_CONF has to be

	dir  string
	env  []string
	lock net.Listener
}

// MissingSlurm says why this machine can have no Slurm, "" if it can.
func MissingSlurm() string {
	if runtime.GOOS != "linux" {
		return "a lab of Slurm takes Linux"
	}
	for _, program := range []string{"/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/sbin/munged", "srun", "sinfo", "salloc"} {
		if _, err := exec.LookPath(program); err != nil {
			return program + " is not installed: apt-get install slurm-wlm munge"
		}
	}
	return ""
}

// UpSlurm makes a Slurm cluster with so many nodes, n1 and following, in a partition debug.
// Down has to follow.
func UpSlurm(nodes int) (*Slurm, error) {
	s := &Slurm{}
	number, err := s.freePorts()
	if err != nil {
		return nil, err
	}
	if s.dir, err = os.MkdirTemp("", "slurm-*"); err != nil {
		return nil, errors.Join(err, s.lock.Close())
	}
	s.Config = filepath.Join(s.dir, "slurm.conf")
	s.env = append(os.Environ(), "SLURM_LAB_DIR="+s.dir, "SLURM_LAB_PORT="+strconv.Itoa(firstSlurmPort+number*slurmPorts))
	if err := s.script("up", strconv.Itoa(nodes)); err != nil {
		return nil, errors.Join(err, s.Down())
	}
	return s, nil
}

// freePorts takes a range of ports that no other tests have; see freeNet.
func (s *Slurm) freePorts() (number int, err error) {
	for number := range mostSlurms {
		s.lock, err = net.Listen("unix", fmt.Sprintf("@ssmctl-slurm-%d", number))
		if err == nil {
			return number, nil
		}
	}
	return 0, fmt.Errorf("no ports are free for a lab of Slurm: %w", err)
}

// Down removes the cluster with all that runs there. It is called once.
func (s *Slurm) Down() error {
	return errors.Join(s.script("down"), os.RemoveAll(s.dir), s.lock.Close())
}

func (s *Slurm) script(args ...string) error {
	root, err := module()
	if err != nil {
		return err
	}
	cmd := exec.Command(filepath.Join(root, "scripts", "slurm-lab"), args...)
	cmd.Env = s.env
	// Not a pipe: the daemons of a lab that is up would hold it.
	said, err := os.CreateTemp("", "slurm-lab-*")
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(said.Close(), os.Remove(said.Name())) }() // of use to nobody any more
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Run(); err != nil {
		text, _ := os.ReadFile(said.Name()) // err says enough without it
		return fmt.Errorf("scripts/slurm-lab %s: %w: %s", strings.Join(args, " "), err, text)
	}
	return nil
}

// Processes returns the pids of what runs on the nodes: steps, and what they have left behind.
func (s *Slurm) Processes() (pids []int, err error) {
	environs, err := filepath.Glob("/proc/[0-9]*/environ")
	if err != nil {
		return nil, err
	}
	for _, path := range environs {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended, or is another user's
		}
		env := "\x00" + string(text)
		if !strings.Contains(env, "\x00SLURM_CONF="+s.Config+"\x00") || !strings.Contains(env, "\x00SLURMD_NODENAME=") {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if err != nil {
			return nil, err
		}
		pids = append(pids, pid)
	}
	return pids, nil
}
