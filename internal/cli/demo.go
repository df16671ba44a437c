package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/examples"
	"github.com/goatnote-inc/pawl/internal/base/scratch"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/sdk"
)

// demoSuite measures one size, with few samples: the difference is large.
const demoSuite = `version: 1
name: demo
build: {command: make harness PAWL_SDK=., outputs: [harness]}
definition: [harness.c]
harness: {command: ./harness}
measure: {timer: cpu, samples: 20, warmup: 5, rounds: [4, 8, 16, 32]}
benchmarks:
  matmul: {matrix: {N: [256]}, flops: 2*N*N*N, bytes: 3*4*N*N}
`

// demo is a repository in a temporary folder with a kernel that gets slower.
type demo struct {
	*env.Env
	dir string
}

func newDemo(g *env.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "demo",
		Short: "Find, explain and fix a regression of an example, on this machine",
		Long: `Creates a repository in a temporary folder with a matrix product in C. A commit makes it
slower: pawl run finds that and says why. The demo then does what the reason suggests, and
pawl run proves that it helped. It uses less than half a minute of CPU time, needs no GPU and
no server, and removes the folder at the end.

It needs git, make and a C compiler. The reason comes from valgrind, or from the counters of
the CPU.

Exit code: 2 if this machine was too busy for an answer, 3 if a tool is missing.`,
		Example: `  pawl demo`,
		RunE:    func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), g) },
	}
}

func runDemo(ctx context.Context, g *env.Env) error {
	for _, tool := range []string{"git", "make", "cc"} {
		if _, err := exec.LookPath(tool); err != nil {
			return command.Exit(command.ExitCannot, fmt.Errorf("the demo needs %s, which is not installed", tool))
		}
	}
	folder, err := scratch.New("", "demo")
	if err != nil {
		return fmt.Errorf("cannot create a folder for the demo: %w", err)
	}
	defer folder.Remove()
	here, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("cannot find the current folder: %w", err)
	}
	defer func() { _ = os.Chdir(here) }() // commands below run in the folder that is removed
	d := demo{Env: g, dir: folder.Path}
	if err := d.create(ctx); err != nil {
		return err
	}
	return d.play(ctx)
}

// play shows the three steps of the demo.
func (d demo) play(ctx context.Context) error {
	started := time.Now()
	d.say("1. A commit makes the blocks of a matrix product narrower.")
	if err := d.edit("BLOCK_N ?= 32", "BLOCK_N ?= 8"); err != nil {
		return err
	}
	if err := d.git(ctx, "commit", "-q", "-a", "-m", "narrower blocks"); err != nil {
		return err
	}
	d.say("\n2. pawl builds and measures that commit and the one before it, side by side.")
	if err := d.expect(ctx, command.ExitFailed, "run", "--base", "HEAD~1"); err != nil {
		return err
	}
	d.say("\n3. The inner loop is too short. Make the blocks wider, and measure again.")
	if err := d.edit("BLOCK_N ?= 8", "BLOCK_N ?= 64"); err != nil {
		return err
	}
	if err := d.expect(ctx, command.ExitOK, "run", "--base", "HEAD", "--profile", "0"); err != nil {
		return err
	}
	d.say(fmt.Sprintf("\nA regression was found, explained and fixed in %.0f s.\nNext, with your own benchmark: pawl run --base main -- COMMAND", time.Since(started).Seconds()))
	return nil
}

// create writes the example and its suite, and commits them.
func (d demo) create(ctx context.Context) error {
	files, err := fs.Sub(examples.Matmul, "matmul-c")
	if err != nil {
		return err
	}
	if err := os.CopyFS(d.dir, files); err != nil {
		return fmt.Errorf("write the example: %w", err)
	}
	for name, text := range map[string]string{"pawl.yaml": demoSuite, "pawl.h": string(sdk.Header), ".gitignore": "results/\nharness\n"} {
		if err := os.WriteFile(filepath.Join(d.dir, name), []byte(text), 0o644); err != nil {
			return fmt.Errorf("write the example: %w", err)
		}
	}
	return errors.Join(
		d.git(ctx, "init", "-q", "-b", "main", "--template="), d.git(ctx, "add", "-A"), d.git(ctx, "commit", "-q", "-m", "a matrix product"),
	)
}

// git runs git in the repository of the demo, without the user's hooks and signatures.
func (d demo) git(ctx context.Context, args ...string) error {
	args = append([]string{"-c", "user.name=pawl", "-c", "user.email=pawl@localhost", "-c", "commit.gpgsign=false", "-c", "core.hooksPath=/dev/null"}, args...)
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = d.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %s: %w: %s", args[len(args)-1], err, out)
	}
	return nil
}

// edit replaces a line of the Makefile, and shows both.
func (d demo) edit(was, now string) error {
	path := filepath.Join(d.dir, "Makefile")
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read the example: %w", err)
	}
	edited := strings.Replace(string(text), was+"\n", now+"\n", 1)
	if edited == string(text) {
		return fmt.Errorf("the Makefile of the example has no line %q", was)
	}
	if err := os.WriteFile(path, []byte(edited), 0o644); err != nil { //nolint:gosec // a file of the folder that the demo created
		return fmt.Errorf("write the example: %w", err)
	}
	style := d.Style()
	d.say(style.Bad("   -"+was) + "\n" + style.Good("   +"+now))
	return nil
}

// expect shows and runs a command of pawl. Any exit code but the expected one ends the demo.
func (d demo) expect(ctx context.Context, code int, args ...string) error {
	d.say("$ pawl " + strings.Join(args, " "))
	got := Main(ctx, append([]string{"-C", d.dir}, args...), d.IO)
	switch {
	case got == code:
		return nil
	case errors.Is(context.Cause(ctx), command.ErrInterrupted):
		return command.ErrInterrupted
	case got <= command.ExitNoAnswer:
		return command.Exit(command.ExitNoAnswer, errors.New("the demo got another answer than it should: this machine is probably busy, run pawl doctor to see"))
	}
	return command.Exit(got, errors.New("the demo ended early"))
}

func (d demo) say(text string) { fmt.Fprintln(d.Out, text) }
