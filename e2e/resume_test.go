package e2e

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/measure"
)

// TestResume_AtFailpoints kills pawl run between writing one file and the next, and continues it. A round counts from
// when its line is whole, and the record has all of them.
func TestResume_AtFailpoints(t *testing.T) {
	fragile := filepath.Join(t.TempDir(), "pawl")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-tags", "failpoint", "-o", fragile, "../cmd/pawl").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	tests := []struct {
		name   string
		points []string // where the processes die, one after the other
		kept   string   // by the last one
		more   bool     // rounds are measured after it
	}{
		{"a round is sealed and not written", []string{"run.sealed:6"}, "after 2 rounds", true},
		{"a round is written", []string{"run.recorded:3"}, "after 3 rounds", true},
		{"the run has ended and has no record", []string{"run.ended:1"}, "after 6 rounds", false},
		{"the run has a record and no report", []string{"run.saved:1"}, "after 6 rounds", false},
		{"the resumption is sealed and not written", []string{"run.recorded:2", "run.sealed:1"}, "after 2 rounds", true},
		{"one after the other", []string{"run.recorded:1", "run.recorded:1", "run.sealed:2", "run.ended:1", "run.saved:1"}, "after 6 rounds", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "pawl.yaml"), "version: 1\nharness: {command: sh kernel.sh, format: hyperfine, files: [kernel.sh, ms]}\n")
			write(t, filepath.Join(dir, "kernel.sh"), `echo "{\"results\":[{\"command\":\"kernel\",\"times\":[0.$(cat ms)1,0.$(cat ms)2,0.$(cat ms)3]}]}"`)
			write(t, filepath.Join(dir, ".gitignore"), "results/\n")
			write(t, filepath.Join(dir, "ms"), "100")
			git(t, dir, "init", "-q", "-b", "main")
			git(t, dir, "add", "-A")
			git(t, dir, "commit", "-q", "-m", "one")
			write(t, filepath.Join(dir, "ms"), "120")
			for _, point := range tt.points {
				cmd := command(t, dir, "run", "--base", "HEAD", "--resume", "--profile", "0")
				cmd.Path = fragile
				cmd.Env = append(cmd.Env, "PAWLD_FAILPOINT="+point+":self")
				if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != -1 {
					t.Fatalf("it was not killed at %s: %v\n%s", point, err, out)
				}
			}
			r := pawl(t, dir, "run", "--base", "HEAD", "--resume", "--profile", "0").want(t, 1, "resumed an interrupted run "+tt.kept, "1 regression")
			if more := strings.Contains(r.stderr, "done in"); more != tt.more {
				t.Errorf("rounds were measured: %v, want %v\n%s", more, tt.more, r.stderr)
			}
			run := load(t, filepath.Join(dir, "results/current.json"))
			if len(run.Rounds) != 6 || run.End.State != measure.Complete {
				t.Errorf("%d rounds, %+v", len(run.Rounds), run.End)
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "results", "*.journal")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			if left, _ := filepath.Glob(filepath.Join(lockDir(t), "cache", "journals", "*")); len(left) > 0 {
				t.Errorf("seals left behind: %v", left)
			}
		})
	}
}

// A run with a harness that speaks the protocol goes on after a kill with the same cases, calibration and sides.
func TestResume_Harness(t *testing.T) {
	needsTime(t)
	dir := slowRepository(t, slowSuiteSmall, slowedThrice)
	cmd := command(t, dir, "run", "--base", "HEAD~1", "--profile", "0")
	stderr, err := cmd.StderrPipe()
	must(t, err)
	must(t, cmd.Start())
	rest := readUntil(t, stderr, "round 3 of")
	must(t, cmd.Process.Kill())
	<-rest
	_ = cmd.Wait() // it was killed
	before := load(t, filepath.Join(dir, "results/current.json"))
	kept := len(before.Rounds)
	pawl(t, dir, "run", "--base", "HEAD~1", "--profile", "0", "--resume").want(t, 1, fmt.Sprintf("resumed an interrupted run after %d rounds", kept), "1 regression")
	run := load(t, filepath.Join(dir, "results/current.json"))
	if kept < 3 || run.ID != before.ID || len(run.Rounds) < kept || len(run.Calibration) != 2 {
		t.Errorf("%s has %d rounds after %s with %d, and calibration %+v", run.ID, len(run.Rounds), before.ID, kept, run.Calibration)
	}
	if diff := cmp.Diff(before.Rounds, run.Rounds[:kept]); diff != "" {
		t.Error(diff)
	}
	for i, c := range run.Cases {
		if diff := cmp.Diff(before.Cases[i].Rounds, c.Rounds[:kept]); diff != "" {
			t.Errorf("%s: %s", c.CaseKey, diff)
		}
	}
}
