package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// gateState is the current state of a session's gates.
type gateState struct {
	writer *journal.Writer
	set    *gates.Set
	note   string // a problem with the thresholds; empty for none
	facts  gates.Facts
	status []gates.Status
}

// gateStateOf asks all gates. what is the command that would run: its host, the current source and
// definition, and how they differ from those of the last measurement.
func (g *globals) gateStateOf(ctx context.Context, w *journal.Writer, root string, what journal.Did) gateState {
	s := w.Session()
	st := gateState{writer: w}
	st.set, st.note = gateSet(ctx, root, s.Commit)
	now := gates.Now{Time: g.now(), Did: what, Configs: configsOf(root, s.Benchmark)}
	st.facts = gates.LearnNow(s, now)
	if ok, built := st.facts.Numbers["build_ok"]; built && ok == 0 { // it matters only then, and running git is slow
		now.Committed = workTreeClean(ctx, root)
		st.facts = gates.LearnNow(s, now)
	}
	st.status = st.set.Look(st.facts, s.Entries)
	return st
}

// gateSet returns the gates with the thresholds of the repository, as of the commit at which the session
// started. So a threshold cannot be moved to get past a gate. The note says which part of the file is
// ignored.
func gateSet(ctx context.Context, root, commit string) (*gates.Set, string) {
	set := gates.All()
	name := filepath.Join(root, filepath.FromSlash(gates.ThresholdFile))
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return set, ""
	}
	if err != nil {
		return set, fmt.Sprintf("%v: using pawl's own thresholds", err)
	}
	note := ""
	if commit != "" {
		then, err := env.GitOutput(ctx, root, "show", commit+":./"+gates.ThresholdFile)
		if err != nil {
			return set, gates.ThresholdFile + " is not in the commit that the session started from: it applies from the next session on"
		}
		if then != string(text) {
			note = gates.ThresholdFile + " changed since the session started: the change applies from the next session on"
		}
		text = []byte(then)
	}
	if err := set.With(text, gates.ThresholdFile); err != nil {
		return gates.All(), fmt.Sprintf("%v: using pawl's own thresholds", err)
	}
	return set, note
}

// configsOf returns the cases of a benchmark, from the smallest to the largest; nil if the suite does
// not list them itself.
func configsOf(root, benchmark string) []string {
	s, err := suite.Load(filepath.Join(root, "pawl.yaml"))
	if err != nil || s.NeedsHarness() {
		return nil
	}
	cases := slices.DeleteFunc(s.Cases(), func(c suite.Case) bool {
		return c.Implementation != suite.Candidate || benchmark != "" && c.Benchmark != benchmark
	})
	slices.SortStableFunc(cases, func(a, b suite.Case) int {
		return cmp.Compare(cmp.Or(a.Flops, a.Bytes), cmp.Or(b.Flops, b.Bytes))
	})
	var names []string
	for _, c := range cases {
		names = append(names, c.Name())
	}
	return slices.Compact(names)
}

// workTreeClean reports whether all tracked files are unchanged since the last commit.
func workTreeClean(ctx context.Context, root string) bool {
	out, err := env.GitOutput(ctx, root, "status", "--porcelain", "--untracked-files=no", "--", ".")
	return err == nil && strings.TrimSpace(out) == ""
}

// checkGates checks whether a command may run in the session. what holds the command with its arguments and
// the state of the source. A refusal is recorded in the journal and returned as an error.
func (g *globals) checkGates(ctx context.Context, w *journal.Writer, root string, what journal.Did) error {
	if !canBeStopped(what) {
		return nil
	}
	st := g.gateStateOf(ctx, w, root, what)
	by := gates.Stopped(st.status, what.Command, what.Args...)
	if by == nil {
		return nil
	}
	step := gates.Next(st.status)
	instead := cmp.Or(by.Command, step.Command)
	if next := gates.Stopped(st.status, firstWords(instead)); next != nil { // the suggested command must not be refused itself
		instead = step.Command
	}
	refused := journal.Refused{Command: what.Command, Args: what.Args, Gate: by.Gate.ID, Why: by.Sentence, Instead: instead, Changes: what.Changes}
	err := w.Append(journal.Entry{Actor: g.actor(ctx, root), Kind: journal.KindRefused, Refused: &refused})
	if err != nil {
		fmt.Fprintf(g.Err, "note: the refusal is not recorded in the journal: %v\n", err)
	}
	return command.Exit(command.ExitFailed, fmt.Errorf("stopped at the gate %s: %s\n  why: %s\n  next: %s\n  a person can override it: pawl session next --override REASON", by.Gate.ID, by.Sentence, by.Gate.Why, instead))
}

// canBeStopped returns false for commands that only show something, such as a plan, a help page or a
// recorded search. They need no check of the gates.
func canBeStopped(what journal.Did) bool {
	for _, a := range what.Args {
		switch a {
		case "--dry-run", "--dry-run=true", "--help", "-h":
			return false
		}
		if what.Command == "tune" && strings.HasPrefix(a, "--replay") {
			return false
		}
	}
	return slices.ContainsFunc(gates.Stoppable, func(c string) bool { return c == what.Command || strings.HasPrefix(c, what.Command+" ") })
}

// firstWords returns the command in a line such as "pawl profile CASE".
func firstWords(line string) string {
	words := strings.Fields(line)
	if len(words) < 2 || words[0] != "pawl" {
		return ""
	}
	return words[1]
}
