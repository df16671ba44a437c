package decide

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/judge/ledger"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
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
	cmd = add("verify", "Check that no line of the ledger was altered", cobra.NoArgs, func(ctx context.Context, _ []string) error {
		if cmd.Flags().Changed("set-aside") && strings.TrimSpace(v.setAside) == "" {
			return command.Usage(errors.New("--set-aside needs a reason, which the ledger records"))
		}
		return v.run(ctx)
	})
	cmd.Long = `Checks every line of the ledger, the order of the lines, and the file's history in git.

It also reports sessions that pawl 0.1.0 recorded for a commit whose suite file has changed
since. That version built a baseline with the recipe of the change, so their times may
belong to another build. They are not used in comparisons. --set-aside records, with a
reason and your name, that they no longer count; the commits stay the baselines.

Exit code: 0 the ledger is intact, even with such sessions; 1 it was altered.`
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
		err = command.WriteJSON(v.Out, doc)
	} else {
		err = v.show(doc)
	}
	if !doc.OK() {
		return command.Exit(command.ExitFailed, errors.Join(err, fmt.Errorf("the ledger was altered outside pawl: %w", command.ErrReported)))
	}
	return err
}

func (v *baselineVerify) show(doc verifyDocument) error {
	for _, p := range doc.Problems {
		fmt.Fprintln(v.Out, v.Style().Bad("changed: ")+p.String())
	}
	for _, n := range doc.Notes {
		fmt.Fprintln(v.Out, "note: "+n)
	}
	if n := len(doc.Doubtful); n > 0 && len(doc.SetAside) == 0 {
		fmt.Fprintf(v.Out, "note: %s of %s may contain times of another build: an older pawl recorded them,\n"+
			"  and the suite has changed since their commits. They are not used in comparisons. To set them aside:\n"+
			"  pawl baseline verify --set-aside REASON\n", words.Plural(n, "session"), namesOf(doc.Doubtful))
	}
	if err := v.printEntries(doc.SetAside, nil); err != nil {
		return err
	}
	if doc.OK() {
		fmt.Fprintf(v.Out, "%s: %s, %s in git, nothing was changed\n", v.Style().Good("ok"), words.Plural(doc.Entries, "line"), words.Plural(doc.Versions, "version"))
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
	changed, err := true, errors.New("not in a git repository")
	if h.repo != nil {
		changed, err = h.repo.ChangedSince(ctx, commit, h.files)
	}
	if err != nil {
		changed = true
		h.notes = append(h.notes, fmt.Sprintf("cannot tell whether the suite has changed since commit %.12s: %v", commit, err))
	}
	h.changed[commit] = changed
	return changed
}
