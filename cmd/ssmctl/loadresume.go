package main

import (
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/ssmctl/ssmctl/internal/loadgen"
	"github.com/ssmctl/ssmctl/internal/result"
)

// resume takes the plan of an interrupted run and counts the levels that need not be
// measured again: the first ones that were measured in full.
func (l *loading) resume(c *cli.Context) error {
	for _, f := range planFlags(loadUsage) {
		if name := f.Names()[0]; c.IsSet(name) {
			return usagef("--%s: a resumed run goes on with its own plan: leave it out, or leave --resume out", name)
		}
	}
	run, err := result.Open(l.resumePath(c))
	if err != nil {
		return usagef("--resume: %w", err)
	}
	m := &run.Manifest
	hash, err := binaryHash()
	if err != nil {
		return err
	}
	switch {
	case m.Mode != result.Live:
		return usagef("--resume: %s is simulated: run its command again", m.Run)
	case m.BinarySHA256 != hash:
		return usagef("--resume: %s was measured by another build of ssmctl (%s): use that one, or measure anew", m.Run, m.Version)
	}
	l.plan, l.profile = m.Plan, m.Profile
	if err := l.resumeHosts(m); err != nil {
		return err
	}
	points := loadgen.Points(&l.plan)
	for l.skip < len(run.Rows) && run.Rows[l.skip].Duration == l.plan.Duration {
		l.skip++
	}
	if l.skip > 0 && len(run.Rows[l.skip-1].LostHosts) > 0 && run.State != result.Complete {
		l.skip-- // it ended with this level, which is worth another try with all hosts
	}
	if l.skip >= len(points) {
		return usagef("--resume: %s is complete: ssmctl report %s shows it", m.Run, m.Run)
	}
	l.say.linef("resuming %s after %d of %d levels", m.Run, l.skip, len(points))
	return nil
}

// resumePath is where the run to resume lies: a path as it is, a name under --out.
func (l *loading) resumePath(c *cli.Context) string {
	if e, err := result.Find(c.String("out"), c.String("resume")); err == nil {
		return e.Path
	}
	return filepath.Clean(c.String("resume"))
}
