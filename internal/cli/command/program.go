package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/goatnote-inc/pawl/internal/base/spell"
	"github.com/goatnote-inc/pawl/internal/base/version"
)

// DocsFolder is the URL of the documentation.
const DocsFolder = "https://github.com/goatnote-inc/pawl/tree/main/docs"

// Program is one of the programs that are made of commands.
type Program struct {
	New  func(*Globals) *cobra.Command
	Args func([]string) []string          // rewrites the command line; nil to leave it
	Code func(context.Context, error) int // the exit code of an error; nil for Code
	Docs func(error) string               // the page to read after an error; nil for none
}

// Run runs one command and returns the exit code.
func (p Program) Run(ctx context.Context, args []string, io *IO) int {
	signal.Ignore(syscall.SIGPIPE) // a closed reader is a failed write, not the end of a run
	ctx, stop := cancelOnSignal(ctx, io)
	defer stop()
	g := &Globals{IO: io, Args: args}
	root := p.New(g)
	if p.Args != nil {
		args = p.Args(args)
	}
	root.SetArgs(args)
	root.SetIn(io.In)
	root.SetOut(io.Out)
	root.SetErr(io.Err)
	err := root.ExecuteContext(ctx)
	if err != nil && !errors.Is(err, ErrReported) && !isBrokenPipe(err) {
		fmt.Fprintln(io.Err, g.ErrStyle().Bad(root.Name()+": ")+err.Error())
		if page := p.docs(err); page != "" {
			fmt.Fprintln(io.Err, g.ErrStyle().Faint("  docs: "+page))
		}
	}
	if p.Code != nil {
		return p.Code(ctx, err)
	}
	return Code(ctx, err)
}

func (p Program) docs(err error) string {
	if p.Docs == nil {
		return ""
	}
	return p.Docs(err)
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
			io.Say(fmt.Sprintf("%v: saving what is done (repeat to stop at once)", s))
			cancel(ErrInterrupted)
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

// NewRoot gives a root command what all programs have: the version, the global flags and the way in which mistakes
// are reported.
func NewRoot(g *Globals, root *cobra.Command) *cobra.Command {
	root.SilenceErrors, root.SilenceUsage, root.Version = true, true, version.Version()
	root.PersistentPreRunE = func(*cobra.Command, []string) error { return g.changeDir() }
	root.Args = knownCommand
	root.SuggestionsMinimumDistance = 2
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return Usage(fmt.Errorf("%w\n  run `%s --help`", flagError(c, err), c.CommandPath()))
	})
	root.PersistentFlags().StringVarP(&g.dir, "dir", "C", "", "run in this `folder`")
	root.PersistentFlags().BoolVar(&g.noColor, "no-color", false, "print plain text, even on a terminal")
	root.SetHelpTemplate(root.HelpTemplate() + "\nDocs: " + DocsFolder + "\n")
	root.SetVersionTemplate(root.Name() + " {{.Version}}\n")
	root.CompletionOptions.HiddenDefaultCmd = true
	help := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) { // cobra would report a pager that has exited
		out := c.OutOrStdout()
		var page bytes.Buffer
		c.SetOut(&page)
		help(c, args)
		c.SetOut(out)
		_, _ = out.Write(page.Bytes())
	})
	keepOrder()
	return root
}

// flagError explains an error in a flag: which one was probably meant, or what its value must be.
func flagError(c *cobra.Command, err error) error {
	if e, ok := errors.AsType[*pflag.NotExistError](err); ok && e.GetSpecifiedShortnames() == "" {
		var known []string
		c.Flags().VisitAll(func(f *pflag.Flag) { known = append(known, f.Name) })
		if near := spell.Nearest(e.GetSpecifiedName(), known); near != "" {
			return fmt.Errorf("unknown flag: --%s (did you mean --%s?)", e.GetSpecifiedName(), near)
		}
		return err
	}
	number, isNumber := errors.AsType[*strconv.NumError](err)
	value, isValue := errors.AsType[*pflag.InvalidValueError](err)
	if isValue && value.GetFlag().Value.Type() == "duration" {
		return fmt.Errorf("--%s %.40q: must be a time such as 30s, 20m or 2h", value.GetFlag().Name, value.GetValue())
	}
	if !isNumber || !isValue {
		return err
	}
	must := "a whole number"
	switch number.Func {
	case "ParseFloat":
		must = "a number"
	case "ParseBool":
		must = "true or false"
	case "ParseUint":
		must = "a whole number, not negative"
	}
	if errors.Is(number, strconv.ErrRange) {
		must += " that fits in 64 bits"
	}
	return fmt.Errorf("--%s %.40q: must be %s", value.GetFlag().Name, value.GetValue(), must)
}

// keepOrder stops cobra from sorting commands: those that new users need come first. The setting is global to
// the process, and commands may run concurrently.
var keepOrder = sync.OnceFunc(func() { cobra.EnableCommandSorting = false })

// Checked turns a wrong number of arguments into a usage error, like any other mistake in the command
// line.
func Checked(args cobra.PositionalArgs) cobra.PositionalArgs {
	if args == nil {
		args = cobra.NoArgs
	}
	return func(c *cobra.Command, given []string) error {
		err := args(c, given)
		if _, said := errors.AsType[*UsageError](err); err == nil || said {
			return err
		}
		return Usage(fmt.Errorf("%w\n  usage: %s", err, c.UseLine()))
	}
}

// Group makes cmd the parent of commands that share its name. It does nothing itself.
func Group(cmd *cobra.Command, subs ...*cobra.Command) *cobra.Command {
	cmd.SuggestionsMinimumDistance = 2
	cmd.Args = knownCommand
	if cmd.RunE == nil {
		cmd.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	for _, sub := range subs {
		sub.Args = Checked(sub.Args)
		cmd.AddCommand(sub)
	}
	return cmd
}

// knownCommand rejects an argument where a command is expected, and suggests one with a similar name.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := fmt.Sprintf("run `%s --help` to list the commands", c.CommandPath())
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %q?", near[0])
	}
	return Usage(fmt.Errorf("unknown command %q: %s", args[0], hint))
}
