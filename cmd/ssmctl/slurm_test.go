package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ssmctl/ssmctl/internal/fleet/labtest"
)

// TestSlurm runs testdata/slurm, one script after the other, on a Slurm cluster of three
// nodes: n1 to n3, in the partition debug.
func TestSlurm(t *testing.T) {
	if why := labtest.MissingSlurm(); why != "" {
		t.Skip(why)
	}
	slurm, err := labtest.UpSlurm(3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := slurm.Down(); err != nil {
			t.Error(err)
		}
	})
	scripts, err := filepath.Glob("testdata/slurm/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if len(scripts) == 0 {
		t.Fatal("no scripts in testdata/slurm")
	}
	for _, script := range scripts {
		t.Run("", func(t *testing.T) {
			testscript.Run(t, testscript.Params{
				Files:               []string{script},
				RequireExplicitExec: true,
				Setup: func(env *testscript.Env) error {
					env.Setenv("SLURM_CONF", slurm.Config)
					return setupScript(env)
				},
				Cmds: map[string]func(*testscript.TestScript, bool, []string){
					"await": awaitText,
					"clean": func(ts *testscript.TestScript, _ bool, _ []string) { slurmClean(ts, slurm) },
				},
			})
		})
	}
}

// slurmClean waits until on no node a process is left, nor a job of ssmctl's own, and checks
// that there is no record. The nodes share the home of the script.
func slurmClean(ts *testscript.TestScript, slurm *labtest.Slurm) {
	poll(ts, func() bool {
		pids, err := slurm.Processes()
		ts.Check(err)
		squeue := exec.Command("squeue", "-h", "-n", "ssmctl")
		squeue.Env = append(os.Environ(), "SLURM_CONF="+slurm.Config)
		jobs, err := squeue.Output() // one that has ended is completing for a moment
		ts.Check(err)
		return len(pids) == 0 && len(jobs) == 0
	})
	if _, err := os.Lstat(filepath.Join(ts.Getenv("XDG_STATE_HOME"), "ssmctl")); !errors.Is(err, fs.ErrNotExist) {
		ts.Fatalf("there is state left: %v", err)
	}
}
