package reach_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ssmctl/ssmctl/internal/fleet/inventory"
	"github.com/ssmctl/ssmctl/internal/fleet/reach"
)

// standIns puts programs into a directory, which alone is PATH: scripts by their name.
func standIns(t *testing.T, scripts map[string]string) {
	t.Helper()
	dir := t.TempDir()
	for name, script := range scripts {
		text := "#!/bin/sh\nPATH=/usr/bin:/bin\n" + script + "\n"
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", dir)
	for _, name := range []string{"SLURM_JOB_ID", "SLURM_JOB_PARTITION", "SLURM_JOB_NODELIST"} {
		t.Setenv(name, "")
	}
}

// prints is a script that wants these arguments and prints these lines.
func prints(args string, lines ...string) string {
	return fmt.Sprintf("[ \"$*\" = '%s' ] || { echo \"called with $*\" >&2; exit 9; }\ncat <<'END'\n%s\nEND", args, strings.Join(lines, "\n"))
}

// summary has a line for each host: its name, address, bricks and roles.
func summary(inv *inventory.Inventory) string {
	lines := make([]string, len(inv.Hosts))
	for i, h := range inv.Hosts {
		lines[i] = fmt.Sprintf("%s %s %d", h.Name, h.Address, h.Bricks)
		if h.Load {
			lines[i] += " load"
		}
		if h.Listen != h.Address {
			lines[i] += " listen " + h.Listen
		}
	}
	return strings.Join(lines, "\n")
}

func wantHosts(t *testing.T, source, via, want string) {
	t.Helper()
	inv, err := reach.Inventory(context.Background(), source)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, summary(inv)); diff != "" {
		t.Errorf("%s: %s", source, diff)
	}
	for _, h := range inv.Hosts {
		words, _, err := h.Command()
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(words, " "); got != strings.ReplaceAll(via, "NAME", h.Name) {
			t.Errorf("%s is reached by %s", h.Name, got)
		}
	}
}

const srunFlags = " --nodelist=NAME --nodes=1 --ntasks=1 --unbuffered --quiet --chdir=/"

func TestPartition(t *testing.T) {
	standIns(t, map[string]string{"sinfo": prints("-h -N -o %N|%o|%t -p debug",
		"n10|10.0.0.10|comp", "n2|10.0.0.2|mix-", "n1|10.0.0.1|idle", "n3|n3|down*", "n4|n4|idle*", "n5|n5|drain", "n6|n6|alloc", "n7|n7|comp*", "n2|10.0.0.2|mix-")})
	wantHosts(t, "slurm:debug", "srun --partition=debug --job-name=ssmctl --oversubscribe --immediate=10"+srunFlags,
		"n1 10.0.0.1 8\nn2 10.0.0.2 0 load\nn10 10.0.0.10 0 load")
}

func TestAllocation(t *testing.T) {
	standIns(t, map[string]string{
		"sinfo":  prints("-h -N -o %N|%o|%t -n n[1-2]", "n1|n1|alloc", "n2|n2|mix"),
		"squeue": prints("-h -t RUNNING -j 8 -o %N", "n[1-2]"),
	})
	via := "srun --jobid=%s --overlap" + srunFlags
	hosts := "n1 n1 8\nn2 n2 0 load"
	wantHosts(t, "slurm:job=8", fmt.Sprintf(via, "8"), hosts)

	t.Setenv("SLURM_JOB_ID", "7")
	t.Setenv("SLURM_JOB_PARTITION", "debug")
	t.Setenv("SLURM_JOB_NODELIST", "n[1-2]")
	for _, source := range []string{"slurm:", "slurm:debug", "slurm:job=7"} {
		wantHosts(t, source, fmt.Sprintf(via, "7"), hosts)
		if got, err := reach.Source(source); err != nil || got != "slurm:job=7" {
			t.Errorf("%s is recorded as %s, %v", source, got, err)
		}
	}
	wantHosts(t, "slurm:job=8", fmt.Sprintf(via, "8"), hosts) // another one
}

// Each line is options, and what 7 hosts are for under them: B bricks, L for load.
func TestRoles(t *testing.T) {
	var lines []string
	for i := range 7 {
		lines = append(lines, fmt.Sprintf("n%d|n%d|idle", i, i))
	}
	standIns(t, map[string]string{"sinfo": prints("-h -N -o %N|%o|%t -p p", lines...)})
	for options, want := range map[string]string{
		"":                                     "3 3 2 L L L L",
		"bricks=4":                             "2 1 1 L L L L",
		"bricks=9,brick-hosts=2":               "5 4 L L L L L",
		"load-hosts=2":                         "3 3 2 L L",
		"load-hosts=6":                         "8 L L L L L L",
		"load-hosts=7":                         "3L 3L 2L L L L L",
		"brick-hosts=7":                        "2 1 1 1 1 1 1L",
		"brick-hosts=1,load-hosts=1":           "8 L",
		"brick-hosts=4,load-hosts=6,bricks=4":  "1 1L 1L 1L L L L",
		"brick-hosts=7,load-hosts=7,bricks=14": "2L 2L 2L 2L 2L 2L 2L",
	} {
		inv, err := reach.Inventory(context.Background(), "slurm:p:"+options)
		if err != nil {
			t.Error(err)
			continue
		}
		var got []string
		for _, h := range inv.Hosts {
			role := ""
			if h.Bricks > 0 {
				role = fmt.Sprint(h.Bricks)
			}
			if h.Load {
				role += "L"
			}
			got = append(got, role)
		}
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%q: %s", options, diff)
		}
	}
}

// podJSON is a pod as kubectl prints one.
func podJSON(name, ip, phase, ready, more string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q%s},"spec":{"containers":[]},"status":{"phase":%q,"podIP":%q,"conditions":[{"type":"PodScheduled","status":"True"},{"type":"Ready","status":%q}]}}`,
		name, more, phase, ip, ready)
}

func podList(pods ...string) string {
	return `{"kind":"List","items":[` + strings.Join(pods, ",") + `]}`
}

func TestPods(t *testing.T) {
	list := podList(
		podJSON("s-10", "10.1.0.10", "Running", "True", ""), podJSON("s-0", "fd00::1", "Running", "True", ""),
		podJSON("old", "", "Succeeded", "False", ""), podJSON("s-1", "10.1.0.1", "Running", "True", ""))
	standIns(t, map[string]string{"kubectl": prints("get pods -l app=s,tier!=x -o json", list)})
	wantHosts(t, "k8s:app=s,tier!=x:bricks=3,listen=0.0.0.0", "kubectl exec -i NAME --",
		"s-0 fd00::1 3 listen 0.0.0.0\ns-1 10.1.0.1 0 load\ns-10 10.1.0.10 0 load")

	standIns(t, map[string]string{"kubectl": prints("get pods -l app=s -o json --namespace=ns", list)})
	wantHosts(t, "k8s:app=s:namespace=ns,container=c,brick-hosts=1,load-hosts=1",
		"kubectl exec -i NAME --namespace=ns --container=c --", "s-0 fd00::1 8\ns-1 10.1.0.1 0 load")
}

// What the scheduler says is no mistake in the command line.
func TestSourceErrors(t *testing.T) {
	const sinfo = "-h -N -o %N|%o|%t -p p"
	pods := func(pods ...string) map[string]string {
		return map[string]string{"kubectl": prints("get pods -l a=b -o json", podList(pods...))}
	}
	for name, c := range map[string]struct {
		source, want string
		with         map[string]string
	}{
		"missing": {"slurm:p", "slurm:p: sinfo is not installed here\n  to see it again: sinfo -h -N -o ", nil},
		"fails":   {"slurm:p", "slurm:p: Unable to contact slurm controller\n  to see it again: ", map[string]string{"sinfo": "echo Unable to contact slurm controller >&2; exit 1"}},
		"none":    {"slurm:p", "no such partition", map[string]string{"sinfo": prints(sinfo)}},
		"down":    {"slurm:p", "no node can take a job now: n1 is down*, n2 is alloc", map[string]string{"sinfo": prints(sinfo, "n1|n1|down*", "n2|n2|alloc")}},
		"few":     {"slurm:p:brick-hosts=3", "3 hosts are wanted, and it has 1", map[string]string{"sinfo": prints(sinfo, "n1|n1|idle")}},
		"spread":  {"slurm:p:brick-hosts=2,bricks=1", "bricks=1: not one for each of 2 hosts", map[string]string{"sinfo": prints(sinfo, "n1|n1|idle", "n2|n2|idle")}},
		"ended":   {"slurm:job=5", "it does not run", map[string]string{"squeue": "exit 0"}},
		"no pods": {"k8s:a=b", "no pods have these labels", pods()},
		"not ready": {"k8s:a=b", "not all pods are ready: p is not ready, q is Pending, r is being deleted, s is without an address: ", pods(
			podJSON("p", "10.0.0.1", "Running", "False", ""), podJSON("q", "", "Pending", "False", ""),
			podJSON("r", "10.0.0.2", "Running", "True", `,"deletionTimestamp":"2026-11-30T12:00:00Z"`), podJSON("s", "", "Running", "True", ""),
			podJSON("t", "10.0.0.3", "Running", "True", ""))},
		"no JSON": {"k8s:a=b", "the answer of kubectl: ", map[string]string{"kubectl": "echo no"}},
	} {
		t.Run(name, func(t *testing.T) {
			standIns(t, c.with)
			inv, err := reach.Inventory(context.Background(), c.source)
			var failed *reach.SourceError
			if !errors.As(err, &failed) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("hosts %v, error %v", inv, err)
			}
		})
	}
}

// Mistakes are found before anything is asked.
func TestSourceMistakes(t *testing.T) {
	for source, want := range map[string]string{
		"slurm:":                          "not within an allocation",
		"slurm:a,b":                       `"a,b": the name of one partition`,
		"slurm:-x":                        `"-x": the name of one partition`,
		"slurm:job=x;y":                   "job=x;y: the number of a job",
		"slurm:p:bricks=0":                `bricks: "0": a whole number from 1 is wanted`,
		"slurm:p:bricks=x":                `bricks: "x": a whole number from 1 is wanted`,
		"slurm:p:bricks=1,bricks=2":       "bricks stands there a second time",
		"slurm:p:namespace=x":             `no option "namespace=x": choose among bricks=N, brick-hosts=N, load-hosts=N, listen=ADDRESS`,
		"k8s:a=b:x":                       `no option "x": choose among bricks=N, brick-hosts=N, load-hosts=N, listen=ADDRESS, namespace=NAME, container=NAME`,
		"k8s:a=b:namespace=":              "namespace: empty: give a value",
		"k8s:a=b:namespace=x y":           "namespace=x y: small letters",
		"k8s::bricks=3":                   "which pods?",
		"k8s:--all-namespaces":            "which pods?",
		"k8s:a=b:container=-c,bricks=4":   "container=-c: small letters",
		"slurm:p:listen=":                 "listen: empty",
		"slurm:p:bricks=3,,brick-hosts=1": `no option ""`,
	} {
		standIns(t, nil)
		for what, err := range map[string]error{"Source": second(reach.Source(source)), "Inventory": second(reach.Inventory(context.Background(), source))} {
			if err == nil || !strings.HasPrefix(err.Error(), source+": ") || !strings.Contains(err.Error(), want) {
				t.Errorf("%s of %s: %v", what, source, err)
			}
			if errors.As(err, new(*reach.SourceError)) {
				t.Errorf("%s of %s: it was asked for", what, source)
			}
		}
	}
}

func second[T any](_ T, err error) error { return err }

// The host names of a scheduler are read like those of a file.
func TestStrangeNames(t *testing.T) {
	standIns(t, map[string]string{"sinfo": prints("-h -N -o %N|%o|%t -p p", "007|007|idle", "true|true|idle")})
	wantHosts(t, "slurm:p", "srun --partition=p --job-name=ssmctl --oversubscribe --immediate=10"+srunFlags, "007 007 8\ntrue true 0 load")
	standIns(t, map[string]string{"sinfo": prints("-h -N -o %N|%o|%t -p p", "-oX|x|idle")})
	if _, err := reach.Inventory(context.Background(), "slurm:p"); !errors.As(err, new(*inventory.Error)) {
		t.Errorf("an option as a name: %v", err)
	}
}

// A file stays one, and is recorded the same from everywhere.
func TestFileSource(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, source := range []string{"lab.yaml", "./lab.yaml", "./slurm:p"} {
		got, err := reach.Source(source)
		if err != nil || !filepath.IsAbs(got) || filepath.Base(got) != filepath.Base(source) {
			t.Errorf("%s is recorded as %s, %v", source, got, err)
		}
	}
}
