package cli

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// gateStatus asks all gates of a session. what is the command that would run: its host, the present source
// and definition, and how they differ from those of the last measurement.
func (g *globals) gateStatus(w *journal.Writer, root string, what journal.Did) []gates.Status {
	s := w.Session()
	facts := gates.Learn(s, gates.Now{Time: g.now(), Did: what, Configs: configsOf(root, s.Benchmark)})
	return gates.Look(facts, s.Entries)
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

// checkGates checks whether a command may run in the session. what holds the command with its arguments and
// the state of the source. A refusal is recorded in the journal and returned as an error.
func (g *globals) checkGates(ctx context.Context, w *journal.Writer, root string, what journal.Did) error {
	if !gates.Stoppable(what.Command) || onlyShows(what) {
		return nil
	}
	by := gates.Stopped(g.gateStatus(w, root, what), what.Command)
	if by == nil {
		return nil
	}
	refused := journal.Refused{Command: what.Command, Args: what.Args, Gate: by.ID, Why: by.Sentence, Instead: by.Command}
	err := w.Append(journal.Entry{Actor: g.actor(ctx, root), Kind: journal.KindRefused, Refused: &refused})
	if err != nil {
		fmt.Fprintf(g.Err, "note: the refusal is not recorded in the journal: %v\n", err)
	}
	return command.Exit(command.ExitFailed, fmt.Errorf("stopped at the gate %s: %s\n  why: %s\n  next: %s\n  a person can override it: pawl session next --override REASON", by.ID, by.Sentence, by.Why, by.Command))
}

// onlyShows reports whether a command shows a plan, a help page or a recorded search.
func onlyShows(what journal.Did) bool {
	return slices.ContainsFunc(what.Args, func(a string) bool {
		return slices.Contains([]string{"--dry-run", "--dry-run=true", "--help", "-h"}, a) || what.Command == "tune" && strings.HasPrefix(a, "--replay")
	})
}
