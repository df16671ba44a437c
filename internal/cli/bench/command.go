package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/discover"
	"github.com/goatnote-inc/pawl/internal/kernel/harness/adapter"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// CommandFlags are the flags for measuring a command that needs no suite.
type CommandFlags struct {
	Args    []string // the command after --; empty for a suite
	build   string
	format  string
	pattern string
	save    bool
	Saved   string // the suite file that was written; empty if none was

	described discover.Command // set by LoadSuite, before a build writes files that the command names
}

// AddCommandFlags registers the flags of a command that measures what follows --.
func (f *Flags) AddCommandFlags(fl *pflag.FlagSet) {
	c := &f.Command
	fl.StringVar(&c.build, "build", "", "with a command after --: build each side with this shell `command`; $PAWL_PREFIX is its own install folder")
	fl.StringVar(&c.format, "format", "", "with a command after --: `format` of its results (default: found by running it once)")
	fl.StringVar(&c.pattern, "pattern", "", "with a command after --: `regexp` for lines with a time, such as 'took (?<ms>[0-9.]+) ms'")
	fl.BoolVar(&c.save, "save", false, "with a command after --: write the suite that does the same to pawl.yaml")
}

// TakeCommand takes the command after -- from the arguments.
func (f *Flags) TakeCommand(cmd *cobra.Command, args []string) error {
	switch dash := cmd.ArgsLenAtDash(); {
	case dash > 0 || dash < 0 && len(args) > 0:
		return fmt.Errorf("unexpected argument %q: put -- before a command to measure, such as pawl %s -- python3 bench.py", args[0], cmd.Name())
	case dash == 0 && len(args) == 0:
		return errors.New("no command after --")
	}
	f.Command.Args = args
	return nil
}

// check rejects flags that do not fit together.
func (c *CommandFlags) check(f *Flags) error {
	if len(c.Args) == 0 {
		for _, name := range []string{"build", "format", "pattern", "save"} {
			if f.IsSet(name) {
				return fmt.Errorf("--%s needs a command after --: a suite says it itself", name)
			}
		}
		return nil
	}
	switch formats := slices.DeleteFunc(suite.Formats(), func(name string) bool { return name == "pawl" || name == "auto" }); {
	case f.Suite != "":
		return errors.New("--suite and a command after -- exclude each other: the command needs no suite")
	case f.commits != "":
		return errors.New("--commits needs a suite: it has the definition that all commits are measured by; --save writes one")
	case c.format != "" && !slices.Contains(formats, c.format):
		return fmt.Errorf("--format %q: must be one of %s", c.format, strings.Join(formats, ", "))
	case c.pattern != "" && c.format != "" && c.format != "lines":
		return fmt.Errorf("--pattern is for --format lines, not %s", c.format)
	case c.save && env.Exists(discover.SuiteFile):
		return fmt.Errorf("--save: %s already exists: remove it, or measure it without a command", discover.SuiteFile)
	}
	if c.pattern != "" {
		if err := adapter.CheckPattern(c.pattern); err != nil {
			return fmt.Errorf("--pattern: %w", err)
		}
		c.format = "lines"
	}
	if _, err := exec.LookPath(c.Args[0]); err != nil && c.build == "" && !errors.Is(err, exec.ErrDot) {
		return fmt.Errorf("cannot start %q: %w\n  check the name after --; for a shell command use: sh -c '...'", c.Args[0], errors.Unwrap(err))
	}
	return nil
}

// LoadSuite returns the suite to measure and its path: that of the command after --, which has no path, or the named file.
func (f *Flags) LoadSuite(ctx context.Context) (*suite.Suite, string, error) {
	if err := f.Command.check(f); err != nil {
		return nil, "", command.Usage(err)
	}
	if len(f.Command.Args) == 0 {
		return env.LoadSuite(f.Suite)
	}
	f.Command.described = f.Command.describe(ctx)
	data, err := discover.ComposeCommand(f.Command.described)
	if err != nil {
		return nil, "", command.Usage(err)
	}
	s, err := suite.Parse(discover.SuiteFile, data)
	return s, "", err
}

// describe returns the command with the files that define it.
func (c *CommandFlags) describe(ctx context.Context) discover.Command {
	repo, err := build.Open(ctx, ".")
	tracked := func(file string) bool { return err == nil && repo.Has(ctx, "HEAD", file) }
	return discover.Command{
		Args: c.Args, Build: c.build, Format: c.format, Pattern: c.pattern,
		Scripts: discover.CommandScripts(".", c.Args, c.build != "", tracked),
	}
}

// detect returns the function that completes the suite of a command, and writes it with --save.
func (f *Flags) detect() func(trial.Detected) (*suite.Suite, error) {
	if len(f.Command.Args) == 0 {
		return nil
	}
	described := f.Command.described
	return func(found trial.Detected) (*suite.Suite, error) {
		described.Format, described.Output = found.Format, found.Output
		data, err := discover.ComposeCommand(described)
		if err != nil {
			return nil, err
		}
		if f.Command.save {
			write := func(w io.Writer) error {
				_, err := w.Write(data)
				return err
			}
			if err := env.WriteFile(discover.SuiteFile, write); err != nil {
				return nil, err
			}
			f.Command.Saved = discover.SuiteFile
		}
		return suite.Parse(discover.SuiteFile, data)
	}
}
