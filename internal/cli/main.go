package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/report"
)

// IO is everything of the process that a command may touch, so that scripts and
// tests can run commands in memory.
type IO struct {
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	Getenv func(string) string
	// Terminal tells whether Err is one, and how wide it is.
	Terminal bool
	Width    func() int
}

// Main runs one command and returns the exit code.
func Main(ctx context.Context, args []string, io IO) int {
	ctx, stop := interruptible(ctx, io.Err)
	defer stop()
	root := newRoot(&io)
	root.SetArgs(args)
	root.SetIn(io.In)
	root.SetOut(io.Out)
	root.SetErr(io.Err)
	err := root.ExecuteContext(ctx)
	if err != nil && !errors.Is(err, errSaid) {
		fmt.Fprintln(io.Err, io.style().Bad("pawl: ")+err.Error())
	}
	return exitCode(ctx, err)
}

// interruptible ends the context at the first SIGINT or SIGTERM, with time to
// keep what was done; the second ends the process the hard way.
func interruptible(parent context.Context, stderr io.Writer) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	done := make(chan struct{})
	go func() {
		select {
		case s := <-signals:
			fmt.Fprintf(stderr, "\npawl: %v: keeping what was measured (once more to stop at once)\n", s)
			cancel(errInterrupted)
			signal.Stop(signals) // the default action is back
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}

func newRoot(io *IO) *cobra.Command {
	g := &globals{IO: io}
	root := &cobra.Command{
		Use:   "pawl",
		Short: "The performance feedback loop for GPU kernels",
		Long: `pawl measures a kernel against its base on the same device in the same minutes,
round by round, and keeps every sample.

Without a command it finds the suite, or a harness it knows, in this folder and
measures it against the merge base.`,
		Example: `  pawl init              # look at this repository and write a suite that runs
  pawl doctor            # what is here, what is missing, how to fix it
  pawl bench             # measure
  pawl bench --base main # measure against main, side by side`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.NoArgs,
		Version:       Version(),
		RunE:          func(cmd *cobra.Command, _ []string) error { return runBare(cmd.Context(), g) },
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w\n  %s --help shows what there is", err, c.CommandPath())}
	})
	root.PersistentFlags().StringVarP(&g.dir, "dir", "C", "", "run in this `folder`")
	root.PersistentFlags().BoolVar(&g.noColor, "no-color", false, "plain text, also on a terminal")
	root.SetVersionTemplate("pawl {{.Version}}\n")
	for _, group := range commandGroups {
		root.AddGroup(&cobra.Group{ID: group.id, Title: group.title})
		for _, make := range group.commands {
			c := make(g)
			c.GroupID = group.id
			c.Args = checked(c.Args)
			root.AddCommand(c)
		}
	}
	root.SetHelpCommandGroupID("other")
	root.SetCompletionCommandGroupID("other")
	return root
}

// checked makes a wrong number of arguments a mistake of the user's, like any
// other in the command line.
func checked(args cobra.PositionalArgs) cobra.PositionalArgs {
	if args == nil {
		args = cobra.NoArgs
	}
	return func(c *cobra.Command, given []string) error {
		if err := args(c, given); err != nil {
			return usageError{fmt.Errorf("%w\n  usage: %s", err, c.UseLine())}
		}
		return nil
	}
}

// commandGroups is the order of pawl --help: what a newcomer needs comes first.
var commandGroups = []struct {
	id, title string
	commands  []func(*globals) *cobra.Command
}{
	{"start", "Start:", []func(*globals) *cobra.Command{newInit, newDoctor, newValidate, newSchema}},
	{"measure", "Measure:", []func(*globals) *cobra.Command{newBench, newImport, newReport}},
	{"other", "Other:", nil},
}

// globals are the flags that every command has.
type globals struct {
	*IO
	dir     string
	noColor bool
}

// folder is where the command works.
func (g *globals) folder() string {
	if g.dir == "" {
		return "."
	}
	return g.dir
}

func (io IO) style() report.Style {
	return report.Style{Color: io.Terminal && io.Getenv("NO_COLOR") == "" && io.Getenv("TERM") != "dumb"}
}

func (g *globals) style() report.Style {
	if g.noColor {
		return report.Style{}
	}
	return g.IO.style()
}

// Version is what this binary was built from.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	version := info.Main.Version
	if version == "" || version == "(devel)" {
		version = "0.1.0-dev"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			version += "+" + s.Value[:min(12, len(s.Value))]
		}
	}
	return strings.TrimPrefix(version, "v")
}
