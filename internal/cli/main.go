package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/report"
)

// IO is everything of the process that a command may use, so that scripts and tests can run
// commands in memory.
type IO struct {
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
	Getenv func(string) string
	// OutScreen and ErrScreen return the size of the terminal behind a stream; nil if the stream is
	// not a terminal.
	OutScreen, ErrScreen func() (width, height int)
	// Now and Sleep are the clock of commands that wait for other systems; nil for the real one.
	Now   func() time.Time
	Sleep func(ctx context.Context, d time.Duration) error

	mu         sync.Mutex
	printAbove func(string) // prints a line while a picture is drawn on Err; nil to print it directly
}

// say prints a line to Err, above the picture if one is drawn.
func (io *IO) say(text string) {
	io.mu.Lock()
	over := io.printAbove
	io.mu.Unlock()
	if over != nil {
		over(text)
		return
	}
	fmt.Fprintln(io.Err, text)
}

func (io *IO) setPrintAbove(over func(string)) {
	io.mu.Lock()
	defer io.mu.Unlock()
	io.printAbove = over
}

// Main runs one command and returns the exit code.
func Main(ctx context.Context, args []string, io *IO) int {
	signal.Ignore(syscall.SIGPIPE) // a closed reader is a failed write, not the end of a run
	ctx, stop := cancelOnSignal(ctx, io)
	defer stop()
	g := &globals{IO: io, args: args}
	root := newRoot(g)
	root.SetArgs(spreadFiles(args))
	root.SetIn(io.In)
	root.SetOut(io.Out)
	root.SetErr(io.Err)
	err := root.ExecuteContext(ctx)
	if err != nil && !errors.Is(err, errReported) && !isBrokenPipe(err) {
		fmt.Fprintln(io.Err, g.errStyle().Bad("pawl: ")+err.Error())
		if page := docsFor(err); page != "" {
			fmt.Fprintln(io.Err, g.errStyle().Faint("  docs: "+page))
		}
	}
	return exitCode(ctx, err)
}

// isBrokenPipe reports whether the reader of stdout, such as head or a pager, has exited. That is not
// worth an error message.
func isBrokenPipe(err error) bool {
	f, ok := errors.AsType[*fs.PathError](err)
	return ok && f.Path == os.Stdout.Name() && errors.Is(f.Err, syscall.EPIPE)
}

// cancelOnSignal cancels the context at the first SIGINT, SIGTERM or SIGHUP, which leaves time to keep
// finished work. The second signal kills the process.
func cancelOnSignal(parent context.Context, io *IO) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		select {
		case s := <-signals:
			io.say(fmt.Sprintf("%v: keeping what was done (once more to stop at once)", s))
			cancel(errInterrupted)
			signal.Stop(signals) // restores the default action
		case <-done:
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel(nil)
	}
}

func newRoot(g *globals) *cobra.Command {
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
		SilenceErrors:     true,
		SilenceUsage:      true,
		Version:           Version(),
		PersistentPreRunE: func(*cobra.Command, []string) error { return g.changeDir() },
		RunE:              func(cmd *cobra.Command, _ []string) error { return runBare(cmd.Context(), g) },
	}
	root.Args = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		hint := "pawl --help lists the commands"
		if near := c.SuggestionsFor(args[0]); len(near) > 0 {
			hint = fmt.Sprintf("did you mean %q?", near[0])
		}
		return usageError{fmt.Errorf("there is no command %q: %s", args[0], hint)}
	}
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w\n  %s --help shows what there is", err, c.CommandPath())}
	})
	root.PersistentFlags().StringVarP(&g.dir, "dir", "C", "", "run in this `folder`")
	root.PersistentFlags().BoolVar(&g.noColor, "no-color", false, "plain text, also on a terminal")
	root.SetHelpTemplate(root.HelpTemplate() + "\nDocs: " + docsFolder + "\n")
	root.SetVersionTemplate("pawl {{.Version}}\n")
	keepOrder()
	for _, group := range commandGroups {
		root.AddGroup(&cobra.Group{ID: group.id, Title: group.title})
		for _, make := range group.commands {
			c := make(g)
			c.GroupID = group.id
			c.Args = checked(c.Args)
			root.AddCommand(c)
		}
	}
	journalAll(g, root)
	root.SetHelpCommandGroupID("other")
	root.SetCompletionCommandGroupID("other")
	return root
}

// keepOrder stops cobra from sorting commands: commandGroups has their order. The setting is global to
// the process, and commands may run concurrently.
var keepOrder = sync.OnceFunc(func() { cobra.EnableCommandSorting = false })

// checked turns a wrong number of arguments into a usage error, like any other mistake in the command
// line.
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

// commandGroups is the order of commands in pawl --help. What new users need comes first.
var commandGroups = []struct {
	id, title string
	commands  []func(*globals) *cobra.Command
}{
	{"start", "Start:", []func(*globals) *cobra.Command{newInit, newDoctor, newSetup, newValidate, newSchema}},
	{"measure", "Measure:", []func(*globals) *cobra.Command{newBuild, newPreflight, newFuzz, newBench, newSweep, newImport, newReport}},
	{"decide", "Decide:", []func(*globals) *cobra.Command{newRun, newTouched, newCompare, newBaseline}},
	{"explain", "Explain:", []func(*globals) *cobra.Command{newProfile, newDiagnose, newGPU, newOccupancy, newRoofline}},
	{"improve", "Improve:", []func(*globals) *cobra.Command{newTune}},
	{"learn", "Learn:", []func(*globals) *cobra.Command{newSession, newNext, newGates, newLesson, newLearn, newGuide, newChecklist, newMCP}},
	{"share", "Share:", []func(*globals) *cobra.Command{newComment, newPush, newCost, newWake}},
	{"other", "Other:", []func(*globals) *cobra.Command{newSDK, newVersion, newLab}},
}

// globals holds the flags and state that every command shares.
type globals struct {
	*IO
	dir          string
	noColor      bool
	args         []string      // the command line
	journalFacts *journalFacts // collects facts for the journal; nil if no session is open
}

// changeDir changes to the folder of -C, so that all paths are relative to it.
func (g *globals) changeDir() error {
	if g.dir == "" {
		return nil
	}
	err := os.Chdir(g.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return usageError{fmt.Errorf("-C %s: there is no such folder", g.dir)}
	}
	if err != nil {
		return usageError{fmt.Errorf("-C: %w", err)}
	}
	return nil
}

// style is the style of stdout, errStyle that of stderr. Each may be a terminal while the other is a file.
func (g *globals) style() report.Style { return g.styleOf(g.OutScreen) }

func (g *globals) errStyle() report.Style { return g.styleOf(g.ErrScreen) }

func (g *globals) styleOf(screen func() (int, int)) report.Style {
	if screen == nil {
		return report.Style{}
	}
	width, _ := screen()
	return report.Style{Color: !g.noColor && !g.dumb() && g.Getenv("NO_COLOR") == "", Width: width}
}

// dumb reports whether the terminal cannot be drawn on.
func (g *globals) dumb() bool { return g.Getenv("TERM") == "dumb" }
