package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/report"
)

// nextFlags are the flags of pawl next.
type nextFlags struct {
	*globals
	json     bool
	override string
	given    func(string) bool
}

func newNext(g *globals) *cobra.Command {
	f := nextFlags{globals: g}
	cmd := &cobra.Command{
		Use:   "next",
		Short: "The one thing to do now, and why",
		Long: `Says which gate comes next in the open session, what to do about it and with which
command. Without a session it says how to begin.

Inside a session pawl refuses commands that a gate stops. A person at a terminal goes on
past the present stop with --override and a reason, which the journal keeps; an agent, CI
and a script cannot.

Exit code: 0; 1 where an override is refused.`,
		Example: `  pawl next
  pawl next --json
  pawl next --override 'both constants describe one tile'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.given = cmd.Flags().Changed
			return f.run(cmd.Context())
		},
	}
	cmd.Flags().BoolVar(&f.json, "json", false, "the answer as JSON")
	cmd.Flags().StringVar(&f.override, "override", "", "go on past the present stop, for this `reason`")
	return cmd
}

func (f *nextFlags) run(ctx context.Context) error {
	w, root, err := f.openJournal()
	if errors.Is(err, journal.ErrNoSession) {
		if f.given("override") {
			return exitError{exitFailed, errors.New("there is nothing to override: no session is open here, and outside of one nothing is refused")}
		}
		return f.show(firstStep(root))
	}
	if err != nil {
		return err
	}
	st := f.gateStateOf(ctx, w, root, f.currentState(ctx, w, root))
	if st.note != "" {
		fmt.Fprintln(f.Err, "note: "+st.note)
	}
	if f.given("override") {
		if err := f.goOn(ctx, st, root); err != nil {
			return err
		}
		st = f.gateStateOf(ctx, w, root, f.currentState(ctx, w, root))
	}
	return f.show(gates.Next(st.status))
}

func (f *nextFlags) show(s gates.Step) error {
	if f.json {
		e := json.NewEncoder(f.Out)
		e.SetIndent("", "  ")
		e.SetEscapeHTML(false)
		return e.Encode(s)
	}
	style := f.style()
	head := s.Do
	if s.Stop {
		head = style.Bad("stop at "+s.Gate+": ") + s.Do
	}
	text := head + "\n"
	if s.Command != "" {
		text += "  " + style.Bold(s.Command) + "\n"
	}
	if s.Why != "" {
		text += style.Faint("  why: "+s.Why) + "\n"
	}
	_, err := fmt.Fprint(f.Out, text)
	return err
}

// goOn records in the journal that a person overrides the current stop.
func (f *nextFlags) goOn(ctx context.Context, st gateState, root string) error {
	reason := strings.TrimSpace(f.override)
	if reason == "" || len(reason) > 1000 {
		return usageError{errors.New("--override wants a reason of one to a thousand characters: whoever reads the journal asks for it")}
	}
	who := f.actor(ctx, root)
	if who.Kind != journal.Person {
		return exitError{exitFailed, fmt.Errorf("only a person goes on past a stop, and this is %s: do what the gate asks for, or ask the person you work for", refusedActorText(who))}
	}
	if in, ok := f.In.(*os.File); !ok || !term.IsTerminal(int(in.Fd())) {
		return exitError{exitFailed, errors.New("only a person at a terminal goes on past a stop, and the input of this command is none")}
	}
	gate := currentStop(st)
	if gate == "" {
		return exitError{exitFailed, errors.New("there is nothing to override: no gate stops anything now")}
	}
	entry := journal.Entry{Actor: who, Kind: journal.KindOverrode, Overrode: &journal.Overrode{Gate: gate, Reason: reason}}
	if err := st.writer.Append(entry); err != nil {
		return fmt.Errorf("go on past %s: %w", gate, err)
	}
	fmt.Fprintf(f.Err, "going on past %s; the journal has the reason\n", gate)
	return nil
}

// currentStop returns the gate that an override applies to: the one that refused last, if it still
// would, or else the next one. It is empty if no gate stops anything.
func currentStop(st gateState) string {
	holds := func(id string) bool {
		return slices.ContainsFunc(st.status, func(s gates.Status) bool {
			return s.Gate.ID == id && (s.Answer == gates.Failed || s.Answer == gates.Open)
		})
	}
	entries := st.writer.Session().Entries
	for _, e := range slices.Backward(entries) {
		if e.Refused != nil && holds(e.Refused.Gate) {
			return e.Refused.Gate
		}
		if e.Refused != nil || e.Did != nil && e.Did.Measured != nil {
			break
		}
	}
	if next := gates.Next(st.status); next.Stop {
		return next.Gate
	}
	return ""
}

func refusedActorText(a journal.Actor) string {
	if a.Kind == journal.CI {
		return "CI"
	}
	return "the agent " + report.Sanitize(a.Name)
}

// firstStep returns the first step to take, based on the files in the folder.
func firstStep(root string) gates.Step {
	there := func(names ...string) bool {
		_, err := os.Stat(filepath.Join(append([]string{root}, names...)...))
		return !errors.Is(err, fs.ErrNotExist)
	}
	_, _, err := loadSuite(filepath.Join(root, "pawl.yaml"))
	switch {
	case !there("pawl.yaml"):
		return gates.Step{Phase: "assess", Do: "There is no suite in this folder: write one.", Why: "pawl measures what a suite describes.", Command: "pawl init"}
	case err != nil:
		return gates.Step{Phase: "assess", Do: "The suite has a mistake: see where.", Why: "Nothing can be measured with it.", Command: "pawl validate"}
	case !there("results") && !there(".pawl"):
		return gates.Step{Phase: "assess", Do: "Nothing was run here yet: look at the machine, then begin a session.", Why: "A look takes three minutes; an ABI mismatch that was found without it took 67.", Command: "pawl doctor"}
	}
	return gates.Step{Phase: "assess", Do: "Begin a session, with what you want of it.", Why: "Inside a session the gates have a state, and what is learned is kept.", Command: "pawl session start --goal '...' --target 1.2"}
}
