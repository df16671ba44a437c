package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/judge/ledger"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/ratchet"
)

// baselineVerify checks a ledger, and sets aside sessions that an older pawl may have measured wrongly.
type baselineVerify struct {
	*baselineFlags
	setAside string // the reason; empty to only check
}

// verifyDocument is the JSON output of pawl baseline verify.
type verifyDocument struct {
	ledger.Report
	Doubtful []ratchet.Entry `json:"doubtful,omitempty"`  // sessions that may come from another build
	SetAside []ratchet.Entry `json:"set_aside,omitempty"` // the entries that were written
}

func newBaselineVerify(f *baselineFlags, add func(use, short string, args cobra.PositionalArgs, run func(context.Context, []string) error) *cobra.Command) {
	v := &baselineVerify{baselineFlags: f}
	var cmd *cobra.Command
	cmd = add("verify", "Check that the ledger was not changed", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		if cmd.Flags().Changed("set-aside") && strings.TrimSpace(v.setAside) == "" {
			return usageError{errors.New("--set-aside needs a reason: the ledger keeps it for later readers")}
		}
		return v.run(ctx)
	})
	cmd.Long = `Checks every line of the ledger, their order, and the history of the file in git.

It also reports sessions that pawl 0.1.0 recorded of a commit whose suite file has
changed since: that version built a baseline by the recipe of the change, so their times may
belong to another build. They are not compared with. --set-aside records, with a reason
and your name, that they no longer count; the commits stay the baselines.

Exit code: 0 the ledger is whole, also with such sessions; 1 it was changed.`
	cmd.Example = `  pawl baseline verify
  pawl baseline verify --set-aside "measured before each side had its own recipe"`
	cmd.Flags().StringVar(&v.setAside, "set-aside", "", "set the reported sessions aside, for this `reason`")
}

func (v *baselineVerify) run(ctx context.Context) error {
	s, dir, l, err := v.open(ctx)
	if err != nil {
		return err
	}
	var doc verifyDocument
	if doc.Report, err = l.Verify(ctx); err != nil {
		return err
	}
	if doc.OK() {
		since := newRecipeHistory(ctx, dir, s.Files)
		state, err := l.Read(ctx)
		if err != nil {
			return err
		}
		doc.Doubtful = since.doubtful(ctx, state)
		if v.setAside != "" && len(doc.Doubtful) > 0 {
			if doc.SetAside, err = l.Append(ctx, func(s ledger.State) ([]ratchet.Entry, error) {
				var list []ratchet.Entry
				for _, e := range since.doubtful(ctx, s) {
					aside := e.SetAside()
					aside.Time, aside.Reason, aside.Actor = time.Now().UTC(), v.setAside, actor(ctx, dir)
					list = append(list, aside)
				}
				return list, nil
			}); err != nil {
				return err
			}
		}
		doc.Notes = append(doc.Notes, since.notes...)
	}
	if v.json {
		err = writeJSON(v.Out, doc)
	} else {
		err = v.say(doc)
	}
	if !doc.OK() {
		return exitError{exitFailed, errors.Join(err, fmt.Errorf("the ledger was changed by other hands: %w", errReported))}
	}
	return err
}

func (v *baselineVerify) say(doc verifyDocument) error {
	for _, p := range doc.Problems {
		fmt.Fprintln(v.Out, v.style().Bad("changed: ")+p.String())
	}
	for _, n := range doc.Notes {
		fmt.Fprintln(v.Out, "note: "+n)
	}
	if n := len(doc.Doubtful); n > 0 && len(doc.SetAside) == 0 {
		fmt.Fprintf(v.Out, "note: %s of %s may hold times of another build: an older pawl recorded them,\n"+
			"  and the suite has changed since their commits. They are not compared with. To set them aside:\n"+
			"  pawl baseline verify --set-aside REASON\n", report.Plural(n, "session"), namesOf(doc.Doubtful))
	}
	if err := v.printEntries(doc.SetAside, nil); err != nil {
		return err
	}
	if doc.OK() {
		fmt.Fprintf(v.Out, "%s: %s, %s in git, nothing was changed\n", v.style().Good("ok"), report.Plural(doc.Entries, "line"), report.Plural(doc.Versions, "version"))
	}
	return nil
}

// namesOf lists the cases of entries, up to five of them.
func namesOf(entries []ratchet.Entry) string {
	var names []string
	for _, e := range entries {
		names = append(names, e.Case)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	const most = 5
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more cases", more)
	}
	return strings.Join(names, ", ")
}

// recipeHistory finds out whether the suite has changed since a commit.
type recipeHistory struct {
	repo    *build.Repository // nil outside a repository
	files   []string          // files of the suite
	changed map[string]bool   // by commit
	notes   []string          // what could not be determined, and why
}

func newRecipeHistory(ctx context.Context, dir string, files []string) *recipeHistory {
	repo, _ := build.Open(ctx, dir)
	return &recipeHistory{repo: repo, files: files, changed: map[string]bool{}}
}

// doubtful returns the doubtful entries of commits whose suite has changed since. If the suite is
// unchanged, each build used the recipe of its own commit.
func (h *recipeHistory) doubtful(ctx context.Context, s ledger.State) []ratchet.Entry {
	return slices.DeleteFunc(s.Baselines.SuspectEntries(s.Entries), func(e ratchet.Entry) bool { return !h.changedSince(ctx, e.Commit) })
}

// changedSince reports whether the suite has changed after commit. It is true if git cannot tell.
func (h *recipeHistory) changedSince(ctx context.Context, commit string) bool {
	if changed, ok := h.changed[commit]; ok {
		return changed
	}
	changed, err := true, errors.New("this is not a git repository")
	if h.repo != nil {
		changed, err = h.repo.ChangedSince(ctx, commit, h.files)
	}
	if err != nil {
		changed = true
		h.notes = append(h.notes, fmt.Sprintf("it is not known whether the suite has changed since commit %.12s: %v", commit, err))
	}
	h.changed[commit] = changed
	return changed
}
