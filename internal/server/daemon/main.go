package daemon

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/base/version"
)

// IO holds everything of the process that a command may use, so that tests can run commands in memory.
type IO struct {
	Out     io.Writer
	Err     io.Writer
	Environ []string
	Now     func() time.Time // nil means the real clock
	// Signals ends the command: the first signal asks it to stop, the second forces it. Nil means the
	// signals of the process.
	Signals <-chan os.Signal
}

func (io *IO) now() time.Time {
	if io.Now != nil {
		return io.Now()
	}
	return failpoint.Now()
}

// Main runs one command and returns the exit code.
func Main(ctx context.Context, args []string, io *IO) int {
	signal.Ignore(syscall.SIGPIPE) // a closed pipe then shows as a write error
	ctx, stop := interruptible(ctx, io)
	defer stop()
	root := newRoot(io)
	root.SetArgs(args)
	root.SetOut(io.Out)
	root.SetErr(io.Err)
	err := root.ExecuteContext(ctx)
	if err != nil && !errors.Is(err, errReported) {
		fmt.Fprintln(io.Err, "pawld: "+err.Error())
	}
	return exitCode(ctx, err)
}

// interruptible cancels the context at the first signal. The second signal kills the process.
func interruptible(parent context.Context, io *IO) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals, restore := io.Signals, func() {}
	if signals == nil {
		own := make(chan os.Signal, 2)
		signal.Notify(own, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
		signals, restore = own, func() { signal.Stop(own) }
	}
	done := make(chan struct{})
	go func() {
		select {
		case <-signals:
			cancel(errInterrupted)
			// Restore the default action after a delay: some tools send a signal to a process and then also to its
			// group.
			time.AfterFunc(200*time.Millisecond, restore)
		case <-done:
		}
	}()
	return ctx, sync.OnceFunc(func() {
		restore()
		close(done)
		cancel(nil)
	})
}

func newRoot(io *IO) *cobra.Command {
	g := &globals{IO: io}
	root := &cobra.Command{
		Use:   "pawld",
		Short: "Server for pawl: stores every result, detects lasting changes, shows both",
		Long: `pawld stores the results of many repositories for years in PostgreSQL, detects lasting
changes, and shows both. pawl push sends results to it.`,
		Example: `  pawld demo                            # try it, with a year of made-up history
  pawld config check                    # show the settings, and test them
  pawld migrate && pawld serve          # run it
  pawld project create kernels          # then allow uploads
  pawld key create kernels --scope report`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Version:       version.Version(),
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			hint := "run `pawld --help`"
			if near := c.SuggestionsFor(args[0]); len(near) > 0 {
				hint = fmt.Sprintf("did you mean %q?", near[0])
			}
			return usageError{fmt.Errorf("unknown command %q: %s", args[0], hint)}
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SuggestionsMinimumDistance = 2
	root.SetVersionTemplate("pawld {{.Version}}\n")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usageError{fmt.Errorf("%w\n  run `%s --help`", err, c.CommandPath())}
	})
	root.PersistentFlags().StringVar(&g.config, "config", "", "settings `file` (or PAWLD_CONFIG; without one, only the environment is used)")
	keepOrder()
	for _, group := range commandGroups {
		root.AddGroup(&cobra.Group{ID: group.id, Title: group.title})
		for _, make := range group.commands {
			c := make(g)
			c.GroupID = group.id
			check(c)
			root.AddCommand(c)
		}
	}
	root.SetHelpCommandGroupID("other")
	root.SetCompletionCommandGroupID("other")
	return root
}

// group returns a command that only has commands below it.
func group(c *cobra.Command, commands ...*cobra.Command) *cobra.Command {
	c.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	c.AddCommand(commands...)
	return c
}

// commandGroups is the order of pawld --help.
var commandGroups = []struct {
	id, title string
	commands  []func(*globals) *cobra.Command
}{
	{"run", "Run:", []func(*globals) *cobra.Command{newServe, newDemo, newMigrate, newConfig}},
	{"who", "Projects and access:", []func(*globals) *cobra.Command{newApply, newProject, newMember, newKey, newLink, newRule, newHook, newRun, newSeries, newAgent, newFleet}},
	{"keep", "Maintenance:", []func(*globals) *cobra.Command{newFsck, newCompact, newExport}},
	{"other", "Other:", []func(*globals) *cobra.Command{newVersion, newGuard, newFill}},
}

// globals holds what every command needs.
type globals struct {
	*IO
	config string
}

var keepOrder = sync.OnceFunc(func() { cobra.EnableCommandSorting = false })

// check makes a wrong number of arguments a usage error, like any other mistake in the command line.
func check(c *cobra.Command) {
	args := c.Args
	if args == nil {
		args = cobra.NoArgs
	}
	c.Args = func(c *cobra.Command, given []string) error {
		if err := args(c, given); err != nil {
			return usageError{fmt.Errorf("%w\n  usage: %s", err, c.UseLine())}
		}
		return nil
	}
	for _, sub := range c.Commands() {
		check(sub)
	}
}
