package trial_test

import (
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/measure"
)

// Lines of shell: spin runs until the test has counted the threads, onOne until it may use only one core.
const (
	spin  = "until [ -e counted ]; do :; done; "
	onOne = `until [ "$(nproc)" = 1 ]; do :; done; `
	took  = "echo 'k took 5 ms'"
)

// Commands whose work one thread does run on one core, the same in a round, from the round on in which that is known.
func TestCommandsShareACore(t *testing.T) {
	cores := harness.Cores()
	choice := len(cores) > 1
	oneThread := "if [ -e counted ]; then " + onOne + "else " + spin + "fi; " + took
	for _, tt := range []struct {
		name    string
		lines   [2]string
		crowded bool // the second side has several threads
		cores   []int
		bound   bool
	}{
		{"one thread each", [2]string{oneThread, oneThread}, false, cores, true},
		{"several threads on one side", [2]string{spin + took, spin + "wait; " + took}, true, cores, false},
		{"no choice", [2]string{took, took}, false, cores[:1], false},
		{"a GPU", [2]string{took, took}, false, nil, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if !choice && len(tt.cores) > 0 {
				tt.lines, tt.bound = [2]string{took, took}, false
			}
			if tt.crowded && choice {
				tt.lines[1] = "(" + spin + ") & " + tt.lines[1]
			}
			p, results := commandPlan(t, tt.lines, [2]bool{false, tt.crowded})
			p.Cores = tt.cores
			if _, err := trial.Run(t.Context(), p); err != nil {
				t.Fatal(err)
			}
			var used []int
			for i, r := range *results {
				if bound := r.Round.Core != nil; bound != (tt.bound && r.Round.Round > 0) {
					t.Fatalf("round %d: bound %v", r.Round.Round, bound)
				}
				if r.Round.Core == nil {
					continue
				}
				if used = append(used, *r.Round.Core); i%2 == 1 && used[len(used)-1] != used[len(used)-2] {
					t.Errorf("round %d: sides on cores %v", r.Round.Round, used[len(used)-2:])
				}
			}
			if tt.bound && used[0] == used[2] {
				t.Errorf("two rounds on core %d, want the next core in the second", used[0])
			}
		})
	}
}

// A program that reports the number of its cores keeps all of them, and its names.
func TestCommandsKeepTheirNames(t *testing.T) {
	cores := harness.Cores()
	if len(cores) < 2 {
		return // there is nothing to choose
	}
	line := "if [ -e counted ] && [ ! -e tried ]; then : > tried; " + onOne + "fi; " + spin + `echo "k$(nproc) took 5 ms"`
	p, results := commandPlan(t, [2]string{line, line}, [2]bool{})
	p.Cores = cores
	if _, err := trial.Run(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	want := "k" + strconv.Itoa(len(cores))
	for _, r := range *results {
		if r.Case.Name() != want || r.Round.Core != nil {
			t.Errorf("round %d: case %s, want %s on all cores", r.Round.Round, r.Case.Name(), want)
		}
	}
}

// commandPlan plans three rounds of two commands, and returns where their results will be. The file counted appears
// in the folder of a side after enough readings; crowded are sides of which readings must show several threads.
func commandPlan(t *testing.T, lines [2]string, crowded [2]bool) (trial.Plan, *[]measure.Result) {
	t.Helper()
	results := new([]measure.Result)
	p := trial.Plan{
		Seed: 1, Growth: []int{3}, Now: time.Now,
		Record: func(_ measure.Round, r []measure.Result) error {
			*results = append(*results, r...)
			return nil
		},
	}
	for i, name := range []string{"candidate", "base"} {
		c := command(t, lines[i])
		c.Side, c.Format = name, "lines"
		busy, several := 0, 0
		c.Follow(func(l harness.Load) {
			if l.Running > 0 {
				busy++
			}
			if l.Running > 1 {
				several++
			}
			if busy >= 20 && (several >= 20 || !crowded[i]) {
				_ = os.WriteFile(filepath.Join(c.Command.Dir, "counted"), nil, 0o600) // again and again
			}
		})
		p.Sides = append(p.Sides, trial.Side{Name: name, Runner: c})
	}
	return p, results
}
