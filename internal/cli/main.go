package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/cli/bench"
	"github.com/goatnote-inc/pawl/internal/cli/ci"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/decide"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/cli/explain"
	"github.com/goatnote-inc/pawl/internal/cli/improve"
	"github.com/goatnote-inc/pawl/internal/cli/more"
	"github.com/goatnote-inc/pawl/internal/cli/share"
	"github.com/goatnote-inc/pawl/internal/cli/start"
)

// Main runs one command of pawl and returns the exit code.
func Main(ctx context.Context, args []string, io *command.IO) int {
	return command.Program{New: newRoot, Args: decide.SpreadFiles, Code: env.ExitCode, Docs: env.DocsFor}.Run(ctx, args, io)
}

func newRoot(shared *command.Globals) *cobra.Command {
	g := &globals{&env.Env{Globals: shared}}
	root := command.NewRoot(shared, &cobra.Command{
		Use:   "pawl",
		Short: "The performance feedback loop for GPU kernels",
		Long: `pawl measures a kernel and its base on the same device in the same minutes, round by
round, and keeps every sample.

Without a command it finds the suite, or a harness it knows, in this folder and
measures it against the merge base.`,
		Example: `  pawl init              # inspect this repository and write a suite that runs
  pawl doctor            # what is here, what is missing, how to fix it
  pawl bench             # measure
  pawl bench --base main # measure against main, side by side`,
		RunE: func(cmd *cobra.Command, _ []string) error { return runBare(cmd.Context(), g.Env) },
	})
	for _, group := range g.commandGroups() {
		root.AddGroup(&cobra.Group{ID: group.id, Title: group.title})
		for _, c := range group.commands {
			c.GroupID = group.id
			c.Args = command.Checked(c.Args)
			root.AddCommand(c)
		}
	}
	hidden := plumbing(g.Env)
	for _, c := range hidden {
		c.Hidden, c.Args = true, command.Checked(c.Args)
	}
	root.AddCommand(hidden...)
	root.AddCommand(newMore(hidden))
	journalAll(g, root)
	return root
}

// commandGroup is a group of commands in pawl --help.
type commandGroup struct {
	id, title string
	commands  []*cobra.Command
}

// commandGroups returns the commands in the order of pawl --help. What new users need comes first.
func (g *globals) commandGroups() []commandGroup {
	e := g.Env
	return []commandGroup{
		{"start", "Start:", []*cobra.Command{start.NewInit(e), start.NewDoctor(e), start.NewSuite(e)}},
		{"measure", "Measure:", []*cobra.Command{bench.NewBench(e), bench.NewSweep(e), bench.NewImport(e)}},
		{"decide", "Decide:", []*cobra.Command{decide.NewRun(e), decide.NewSubmit(e), decide.NewCompare(e), decide.NewBisect(e), decide.NewBaseline(e), decide.NewFuzz(e), decide.NewPreflight(e)}},
		{"explain", "Explain:", []*cobra.Command{explain.NewProfile(e), explain.NewDiagnose(e), explain.NewDevice(e)}},
		{"improve", "Improve:", []*cobra.Command{improve.NewTune(e)}},
		{"learn", "Learn:", []*cobra.Command{newSession(g), newLesson(g)}},
		{"share", "Share:", []*cobra.Command{share.NewReport(e), share.NewPush(e), share.NewFleet(e), newMCP(g)}},
	}
}

// plumbing returns the commands that workflows and operators need. pawl help more shows them.
func plumbing(e *env.Env) []*cobra.Command {
	return []*cobra.Command{ci.NewCI(e), more.NewWake(e), more.NewBuild(e), more.NewSDK(e), newDemo(e), start.NewVersion(e)}
}

// newMore returns the help topic that lists the plumbing.
func newMore(hidden []*cobra.Command) *cobra.Command {
	var text strings.Builder
	text.WriteString("Commands for workflows and operators:\n\n")
	for _, c := range hidden {
		fmt.Fprintf(&text, "  %-11s %s\n", c.Name(), c.Short)
	}
	text.WriteString("\nRun pawl COMMAND --help for one of them.")
	return &cobra.Command{Use: "more", Short: "Commands for workflows and operators", Long: text.String()}
}

// globals is what the commands that keep and read the journal share.
type globals struct{ *env.Env }
