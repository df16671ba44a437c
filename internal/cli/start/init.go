package start

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/version"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/device"
	"github.com/goatnote-inc/pawl/internal/kernel/discover"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

type initFlags struct {
	*env.Env
	force  bool
	json   bool
	agents bool
	github githubFlags
}

// NewInit returns the command pawl init.
func NewInit(g *env.Env) *cobra.Command {
	f := initFlags{Env: g}
	cmd := &cobra.Command{
		Use:   "init [SOURCE]",
		Short: "Inspect this repository and write a suite that runs",
		Long: `Looks for a harness, a benchmark, or kernels, and writes pawl.yaml for what it finds.
Benchmarks are those of other tools (Google Benchmark, NVBench, pytest-benchmark, Go,
Criterion), Python programs that measure (do_bench, perf_report, torch, timeit, Kernel
Tuner), and programs that time themselves and print it. Several of one kind become one
suite. SOURCE selects one file.

Looking runs nothing of the repository. Then init builds what it found, and asks CMake for
its targets and a harness for its cases. It prints each of these commands on stderr before
it runs it.

It also writes the schema of pawl.yaml for editors, adds results/ and build outputs to
.gitignore, and puts pawl.h or pawl_harness.py next to a harness that needs it and cannot
find it. For kernels without a benchmark it writes a harness to fill in, and ends with exit
code 2: no gate passes with it. It changes nothing else.

With --github it writes what a gate in pull requests needs: five workflows, pinned and
without secrets, a section for the pull request template, and rulesets to import. It adds
baseline: and gate: {mode: advise} to the suite if they are missing, and lists what is
left to do by hand. Without a suite it creates one first.

With --agents it writes what AI agents need: AGENTS.md with the loop and its rules, the
same as a skill (SKILL.md), and the configuration with which each client finds pawl mcp.
Existing files are kept, and pawl prints what to add to them.`,
		Example: `  pawl init
  pawl init bench/softmax.cu    # if there are several harnesses
  pawl init --force             # overwrite pawl.yaml
  pawl init --github            # add the gate for pull requests
  pawl init --github --upgrade  # update its workflows
  pawl init --agents            # write AGENTS.md and the client configuration for pawl mcp`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			source := append(args, "")[0]
			if err := f.github.check(cmd.Flags()); err != nil {
				return command.Usage(err)
			}
			if f.agents && (f.github.on || source != "") {
				return command.Usage(errors.New("--agents cannot be combined with --github or SOURCE: it writes no suite and no workflows"))
			}
			if f.agents {
				return f.runAgents(cmd.Context())
			}
			if f.github.on {
				return f.runGitHub(cmd.Context(), source)
			}
			return f.run(cmd.Context(), source)
		},
	}
	cmd.Flags().BoolVar(&f.force, "force", false, "overwrite an existing pawl.yaml; with --github: edited workflows; with --agents: existing agent files")
	cmd.Flags().BoolVar(&f.agents, "agents", false, "write AGENTS.md, a skill and the client configuration for pawl mcp")
	f.github.add(cmd.Flags())
	cmd.Flags().BoolVar(&f.json, "json", false, "print what was found and written as JSON on stdout")
	return cmd
}

func (f *initFlags) run(ctx context.Context, source string) error {
	if env.Exists(discover.SuiteFile) && !f.force {
		return existsError(discover.SuiteFile)
	}
	survey, err := SurveyFolder()
	if err != nil {
		return err
	}
	if !f.json {
		fmt.Fprint(f.Out, survey.Explain())
	}
	if source != "" {
		source = filepath.ToSlash(filepath.Clean(source))
	}
	chosen, err := survey.Choose(source, Installed)
	if err != nil {
		return errors.Join(f.print(initDoc{Seen: seen(survey)}), withChoiceHint(err))
	}
	if chosen.LeftOut != "" && !f.json {
		fmt.Fprintln(f.Out, "note: "+chosen.LeftOut)
	}
	res, err := f.setup(ctx).Run(ctx, chosen)
	if e, ok := errors.AsType[*discover.ExistsError](err); ok {
		return existsError(e.Path)
	}
	if err != nil {
		return err
	}
	doc := f.describe(survey, chosen, res)
	if f.github.on {
		doc.Next = nil // --github prints the next steps at the end
	}
	if err := f.print(doc); err != nil {
		return err
	}
	if res.Problem != nil {
		return command.Exit(command.ExitCannot, fmt.Errorf("%s is written, but does not run yet: %w\n  fix this, then run `pawl bench`; `pawl doctor` shows what this machine is missing", discover.SuiteFile, res.Problem))
	}
	if chosen.Level == discover.Kernel {
		return command.Exit(command.ExitNoAnswer, fmt.Errorf("%w: %s calls no kernel yet; no gate passes until it does", errPlaceholder, chosen.Source))
	}
	return nil
}

// errPlaceholder reports a suite that measures nothing yet.
var errPlaceholder = errors.New("wrote a placeholder")

// Installed reports whether a program is in the search path.
func Installed(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

func (f *initFlags) setup(ctx context.Context) discover.Setup {
	return discover.Setup{
		Dir: ".", Name: FolderName(), Force: f.force, Hello: helloMessage(ctx),
		Build: func(ctx context.Context, b suite.Build) error {
			_, err := build.Run(ctx, build.Recipe{Command: b.Command, Dir: ".", Outputs: b.Outputs, Timeout: b.Timeout}, nil)
			return err
		},
		Say: func(line string) { fmt.Fprintln(f.Err, line) },
	}
}

func existsError(path string) error {
	return command.Usage(fmt.Errorf("%s already exists\n  run `pawl init --force` to overwrite pawl.yaml; other files are never overwritten", path))
}

// SurveyFolder surveys this folder. It does not follow links that lead out of it.
func SurveyFolder() (discover.Survey, error) {
	root, err := os.OpenRoot(".")
	if err != nil {
		return discover.Survey{}, fmt.Errorf("cannot open this folder: %w", err)
	}
	defer root.Close()
	return discover.Scan(root.FS())
}

// withChoiceHint adds the next step if there is not exactly one thing to measure.
func withChoiceHint(err error) error {
	hint := "write a harness first (docs/how-to has one of ten lines), or choose another folder with -C FOLDER"
	if e, ok := errors.AsType[*discover.AmbiguousError](err); ok {
		hint = "choose one: pawl init " + e.Sources[0]
	}
	return command.Usage(fmt.Errorf("%w\n  %s", err, hint))
}

// helloMessage returns the hello message for a harness, with the device that bench would use.
func helloMessage(ctx context.Context) harness.Hello {
	hello := harness.Hello{Pawl: version.Version(), Device: harness.HelloDevice{Kind: gpu.CPU}}
	inv, err := device.List(ctx, device.Options{})
	if err != nil {
		return hello
	}
	if dev, err := inv.Select("", ""); err == nil {
		hello.Device = harness.HelloDevice{Kind: dev.Identity().Kind, UUID: dev.Identity().UUID}
	}
	return hello
}

// FolderName returns the default name of a suite: that of this folder.
func FolderName() string {
	abs, err := filepath.Abs(".")
	if err != nil {
		return "suite"
	}
	name := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '/' {
			return '-'
		}
		return r
	}, filepath.Base(abs))
	return strings.ToValidUTF8(name, "-")
}
