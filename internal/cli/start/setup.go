package start

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/doctor/setup"
	"github.com/goatnote-inc/pawl/internal/report"
)

type setupFlags struct {
	*env.Env
	suite     string
	yes, json bool
	machine   setup.Options // set by tests; zero for this machine
}

func (f *setupFlags) run(ctx context.Context) error {
	s, path, err := env.LoadSuite(f.suite)
	if err != nil {
		return err
	}
	o := f.machine
	o.Suite, o.Dir = s, filepath.Dir(path)
	plan, err := setup.Look(ctx, o)
	if err != nil {
		return err
	}
	if !f.json {
		if err := writePlan(f.Out, f.Style(), plan); err != nil {
			return err
		}
	}
	if len(plan.Commands) == 0 || !f.confirm() {
		return f.answer(plan, nil)
	}
	ran, err := f.runCommands(ctx, plan)
	if err != nil {
		return errors.Join(err, f.document(plan, ran))
	}
	if plan, err = setup.Look(ctx, o); err != nil {
		return err
	}
	return f.answer(plan, ran)
}

// confirm reports whether the user allows the commands that were shown to run.
func (f *setupFlags) confirm() bool {
	if f.yes {
		return true
	}
	in, isFile := f.In.(*os.File)
	if f.json || !isFile || f.ErrScreen == nil || !term.IsTerminal(int(in.Fd())) {
		return false
	}
	fmt.Fprint(f.Err, "run these commands? [y/N] ")
	line, _ := bufio.NewReader(io.LimitReader(in, 100)).ReadString('\n')
	word := strings.ToLower(strings.TrimSpace(line))
	return word == "y" || word == "yes"
}

// runCommands runs the commands of the plan and returns those that were started.
func (f *setupFlags) runCommands(ctx context.Context, plan setup.Plan) ([]setup.Command, error) {
	var ran []setup.Command
	err := setup.Run(ctx, plan.Commands, setup.Streams{In: f.In, Out: f.Err, Err: f.Err}, func(c setup.Command) {
		fmt.Fprintln(f.Err, f.ErrStyle().Bold("$ "+c.Line))
		ran = append(ran, c)
	})
	return ran, err
}

// document prints the plan as JSON, if asked for.
func (f *setupFlags) document(plan setup.Plan, ran []setup.Command) error {
	if !f.json {
		return nil
	}
	return command.WriteJSON(f.Out, struct {
		Ready bool `json:"ready"`
		setup.Plan
		Ran []setup.Command `json:"ran,omitempty"`
	}{plan.Ready(), plan, ran})
}

// answer prints the JSON document, if asked for, and returns the exit code.
func (f *setupFlags) answer(plan setup.Plan, ran []setup.Command) error {
	if err := f.document(plan, ran); err != nil {
		return err
	}
	if !f.json && (len(ran) > 0 || plan.Ready()) {
		if _, err := fmt.Fprintln(f.Out, planConclusion(f.Style(), plan)); err != nil {
			return err
		}
	}
	if plan.Ready() {
		return nil
	}
	if f.json || len(ran) > 0 {
		return command.Exit(command.ExitCannot, command.ErrReported)
	}
	return command.Exit(command.ExitCannot, errors.New(firstMissing(plan)))
}

func firstMissing(plan setup.Plan) string {
	for _, i := range plan.Items {
		if i.Required && i.State != setup.Present {
			text := fmt.Sprintf("%s is %s, and the suite requires it", i.Name, i.State)
			if len(plan.Commands) > 0 {
				text += "\n  run `pawl doctor --fix --yes` to run the commands above"
			}
			return text
		}
	}
	return ""
}

func planConclusion(style report.Style, plan setup.Plan) string {
	if !plan.Ready() {
		return style.Bad("not ready: ") + firstMissing(setup.Plan{Items: plan.Items})
	}
	text := style.Good("ready: ") + "everything that the suite requires is here"
	left := 0
	for _, i := range plan.Items {
		if i.State != setup.Present {
			left++
		}
	}
	if left > 0 {
		text += ", but not " + words.Plural(left, "thing") + " that it can use"
	}
	return text
}

// writePlan prints every item with its state, and then the commands that would run.
func writePlan(w io.Writer, style report.Style, plan setup.Plan) error {
	var b strings.Builder
	name := 0
	for _, i := range plan.Items {
		name = max(name, len(i.Name))
	}
	const state = len(setup.Missing)
	indent := strings.Repeat(" ", state+2+name+2)
	for _, i := range plan.Items {
		colour := style.Good
		switch {
		case i.State == setup.Present:
		case i.Required:
			colour = style.Bad
		default:
			colour = style.Warn
		}
		text := i.Why
		if i.State == setup.Present {
			text = strings.TrimSpace(strings.Join([]string{i.At, i.Version}, " "))
		} else if !i.Required {
			text += " (optional)"
		}
		fmt.Fprintf(&b, "%s%s  %-*s  %s\n", colour(string(i.State)), strings.Repeat(" ", state-len(i.State)), name, printableLine(i.Name), printableLine(text))
		if i.State == setup.Present {
			continue
		}
		for _, c := range i.Fix {
			label := "fix: "
			if i.ByHand {
				label = "by hand: "
			}
			fmt.Fprintf(&b, "%s%s\n", indent, style.Faint(label)+c.Line)
		}
		if i.Note != "" {
			fmt.Fprintf(&b, "%s%s\n", indent, style.Faint(printableLine(i.Note)))
		}
	}
	if len(plan.Commands) > 0 {
		b.WriteString("\n" + style.Bold("commands to run, in this order") + "\n")
		for _, c := range plan.Commands {
			fmt.Fprintf(&b, "  %s%s\n", c.Line, map[bool]string{true: style.Faint("   # as root")}[c.Root && !strings.HasPrefix(c.Line, "sudo ")])
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// printableLine replaces control characters in text from a tool, which could affect the terminal.
func printableLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}
