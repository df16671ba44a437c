package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// nextFlags are the flags of pawl session next.
type nextFlags struct {
	*globals
	json     bool
	override string
	fixes    bool
	profile  string
	given    func(string) bool
}

func newNext(g *globals) *cobra.Command {
	f := nextFlags{globals: g}
	cmd := &cobra.Command{
		Use:   "next",
		Short: "Show the one thing to do now, and why",
		Long: `Shows which gate comes next in the open session, what to do about it and with which
command. Without a session it shows how to start.

Five gates stop commands while their answer is no: environment, builds, correct, definition
and budget. A person at a terminal can override the current stop with --override and a
reason, which the journal records. Agents, CI and scripts cannot. All other gates advise.

With --fixes it ranks the fixes from the findings of a profile and from lessons: fixes with
measured gains first, then what rules expect, then lessons that were never tried. A fix that
the build already has, or that was tried and did nothing, is listed with the reason instead.
The profile is the last one of the open session, or --profile FILE.

Exit code: 0; 1 if an override is refused; 2 if --fixes knows none.`,
		Example: `  pawl session next
  pawl session next --json
  pawl session next --fixes
  pawl session next --profile results/profiles/attention_S512.json
  pawl session next --override 'the oracle is wrong for N=1, see #12'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.given = cmd.Flags().Changed
			if f.fixes || f.profile != "" {
				return f.adviseFixes(cmd.Context())
			}
			return f.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "print JSON")
	cmd.Flags().BoolVar(&f.fixes, "fixes", false, "rank the fixes to try, the most promising first")
	cmd.Flags().StringVar(&f.profile, "profile", "", "rank the fixes for this profile `file`, in any format that pawl diagnose reads (default: the last of the open session)")
	cmd.Flags().StringVar(&f.override, "override", "", "override the current stop, for this `reason`")
	return cmd
}

func (f *nextFlags) run(ctx context.Context) error {
	w, root, err := f.openJournal()
	if errors.Is(err, journal.ErrNoSession) {
		if f.given("override") {
			return command.Exit(command.ExitFailed, errors.New("nothing to override: no session is open here, and without a session nothing is refused"))
		}
		return f.show(firstStep(root))
	}
	if err != nil {
		return err
	}
	status := f.gateStatus(w, root, f.currentState(ctx, w, root))
	if f.given("override") {
		if err := f.goOn(ctx, w, status, root); err != nil {
			return err
		}
		status = f.gateStatus(w, root, f.currentState(ctx, w, root))
	}
	return f.show(gates.Next(status))
}

func (f *nextFlags) show(s gates.Step) error {
	if f.json {
		return command.WriteJSON(f.Out, s)
	}
	style := f.Style()
	text := s.Do + "\n"
	if s.Stop {
		text = style.Bad("stop at "+s.Gate+": ") + text
	}
	if s.Command != "" {
		text += "  " + style.Bold(s.Command) + "\n"
	}
	if s.Why != "" {
		text += style.Faint("  why: "+s.Why) + "\n"
	}
	_, err := fmt.Fprint(f.Out, text)
	return err
}

// goOn records in the journal that a person overrides the current stop: the gate that refused last if it
// still would, or else the first.
func (f *nextFlags) goOn(ctx context.Context, w *journal.Writer, status []gates.Status, root string) error {
	reason := strings.TrimSpace(f.override)
	if reason == "" || len(reason) > 1000 {
		return command.Usage(errors.New("--override must be a reason of 1 to 1000 characters: the journal records it"))
	}
	who := f.actor(ctx, root)
	if err := f.requirePerson(who, "override a stop"); err != nil {
		return err
	}
	gate := ""
	if next := gates.Next(status); next.Stop {
		gate = next.Gate
	}
	for _, e := range slices.Backward(w.Session().Entries) {
		if e.Refused != nil {
			if slices.ContainsFunc(status, func(s gates.Status) bool { return s.ID == e.Refused.Gate && s.Answer == gates.Stop }) {
				gate = e.Refused.Gate
			}
			break
		}
	}
	if gate == "" {
		return command.Exit(command.ExitFailed, errors.New("nothing to override: no gate stops anything now"))
	}
	entry := journal.Entry{Actor: who, Kind: journal.KindOverrode, Overrode: &journal.Overrode{Gate: gate, Reason: reason}}
	if err := w.Append(entry); err != nil {
		return fmt.Errorf("cannot override %s: %w", gate, err)
	}
	fmt.Fprintf(f.Err, "stop at %s overridden; the journal has the reason\n", words.Sanitize(gate))
	return nil
}

// firstStep returns the first step to take, based on the files in the folder.
func firstStep(root string) gates.Step {
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(root, name))
		return !errors.Is(err, fs.ErrNotExist)
	}
	_, _, err := env.LoadSuite(filepath.Join(root, "pawl.yaml"))
	switch {
	case !there("pawl.yaml"):
		return gates.Step{Phase: "assess", Do: "There is no suite in this folder. Write one.", Why: "pawl measures what a suite describes.", Command: "pawl init"}
	case err != nil:
		return gates.Step{Phase: "assess", Do: "The suite has an error. See where.", Why: "A suite with an error cannot be measured.", Command: "pawl suite check"}
	case !there("results") && !there(".pawl"):
		return gates.Step{Phase: "assess", Do: "Nothing was run here yet. Check the machine, then start a session.", Why: "A check takes seconds; an ABI mismatch found without it took 67 minutes.", Command: "pawl doctor"}
	}
	return gates.Step{Phase: "assess", Do: "Start a session, and say what you want to achieve.", Why: "A session tracks the state of the gates and keeps what is learned.", Command: "pawl session start --goal '...' --target 1.2"}
}
