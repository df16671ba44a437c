package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/cli/command"
)

// Main runs one command of pawl and returns the exit code.
func Main(ctx context.Context, args []string, io *command.IO) int {
	return command.Program{New: newRoot, Args: spreadFiles, Code: exitCode, Docs: docsFor}.Run(ctx, args, io)
}

func newRoot(shared *command.Globals) *cobra.Command {
	g := &globals{Globals: shared}
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
		RunE: func(cmd *cobra.Command, _ []string) error { return runBare(cmd.Context(), g) },
	})
	for _, group := range commandGroups {
		root.AddGroup(&cobra.Group{ID: group.id, Title: group.title})
		for _, make := range group.commands {
			c := make(g)
			c.GroupID = group.id
			c.Args = command.Checked(c.Args)
			root.AddCommand(c)
		}
	}
	var hidden []*cobra.Command
	for _, make := range plumbing {
		c := make(g)
		c.Hidden, c.Args = true, command.Checked(c.Args)
		hidden = append(hidden, c)
	}
	root.AddCommand(hidden...)
	root.AddCommand(newMore(hidden))
	journalAll(g, root)
	return root
}

// commandGroups is the order of commands in pawl --help. What new users need comes first.
var commandGroups = []struct {
	id, title string
	commands  []func(*globals) *cobra.Command
}{
	{"start", "Start:", []func(*globals) *cobra.Command{newInit, newDoctor, newSuite}},
	{"measure", "Measure:", []func(*globals) *cobra.Command{newBench, newSweep, newImport}},
	{"decide", "Decide:", []func(*globals) *cobra.Command{newRun, newSubmit, newCompare, newBaseline, newFuzz, newPreflight}},
	{"explain", "Explain:", []func(*globals) *cobra.Command{newProfile, newDiagnose, newDevice}},
	{"improve", "Improve:", []func(*globals) *cobra.Command{newTune}},
	{"learn", "Learn:", []func(*globals) *cobra.Command{newSession, newLesson}},
	{"share", "Share:", []func(*globals) *cobra.Command{newReport, newPush, newMCP}},
}

// plumbing lists the commands that workflows and operators need. pawl help more shows them.
var plumbing = []func(*globals) *cobra.Command{newCI, newWake, newBuild, newSDK, newVersion}

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

// globals is what every command of pawl shares.
type globals struct {
	*command.Globals
	journalFacts *journalFacts // collects facts for the journal; nil if no session is open
}
