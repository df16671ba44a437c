package more

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/cli/progress"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

type buildFlags struct {
	*env.Env
	suite, cases, base, arch string
	noCache, clean, json     bool
	tools                    bool // only print their digest
}

// NewBuild returns the command pawl build.
func NewBuild(g *env.Env) *cobra.Command {
	f := buildFlags{Env: g}
	cmd := &cobra.Command{
		Use:   "build",
		Short: "Build what the suite needs",
		Long: `Builds the working tree, and with --base also a commit, as bench and run do before they
measure. A build comes from the cache if its sources, flags, environment, tools and
architecture are unchanged.

Exit code: 1 the candidate does not build, 2 the base or a reference does not build, 3 a
tool is missing, 4 the suite is invalid.`,
		Example: `  pawl build
  pawl build --base main
  pawl build --case 'attention/*'   # only the variants of these cases
  pawl build --arch sm_90           # for a different device
  pawl build --clean                # empty the cache
  pawl build --tools                # can another machine use builds of this one?`,
		RunE: func(cmd *cobra.Command, _ []string) error { return f.run(cmd.Context()) },
	}
	fl := cmd.Flags()
	fl.StringVarP(&f.suite, "suite", "f", "", "suite `file` (default pawl.yaml)")
	fl.StringVar(&f.cases, "case", "", "build only for cases whose name or benchmark matches this `glob`")
	fl.StringVar(&f.base, "base", "", "also build this `commit`")
	fl.StringVar(&f.arch, "arch", "", "`architecture` to build for, such as sm_89 (default: the device's)")
	fl.BoolVar(&f.noCache, "no-cache", false, "rebuild everything, ignoring cached builds")
	fl.BoolVar(&f.clean, "clean", false, "empty the build cache, and build nothing")
	fl.BoolVar(&f.tools, "tools", false, "print a digest of all tools, libraries and headers that builds in the sandbox can read, and build nothing")
	fl.BoolVar(&f.json, "json", false, "what was built as JSON on stdout, events as JSON lines on stderr")
	return cmd
}

func (f *buildFlags) run(ctx context.Context) error {
	if f.clean {
		return f.cleanCache(ctx)
	}
	if f.tools {
		return f.showTools(ctx)
	}
	if err := suite.CheckArch(f.arch); err != nil {
		return command.Usage(err)
	}
	s, path, err := env.LoadSuite(f.suite)
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	progress := progress.New(f.Env, f.json)
	builds, err := runner.BuildOnly(ctx, runner.Options{
		Suite: s, Dir: dir, Path: filepath.Base(path), Case: f.cases, Base: f.base, Out: filepath.Join(dir, "results", "current.json"),
		BuildOptions: runner.BuildOptions{NoCache: f.noCache, Arch: f.arch}, Emit: progress.Event,
	})
	progress.Close()
	return errors.Join(err, f.show(builds, err))
}

// showTools prints the digest of what builds can read. Machines on which it is equal can hand builds over.
func (f *buildFlags) showTools(ctx context.Context) error {
	tools, err := build.FindHostTools(ctx, ".")
	if err != nil {
		return err
	}
	digest, err := tools.Digest(ctx)
	if err != nil {
		return err
	}
	if f.json {
		return f.encode(map[string]string{"tools": digest})
	}
	_, err = fmt.Fprintln(f.Out, digest)
	return err
}

// cleanCache clears the cache after printing how much it holds.
func (f *buildFlags) cleanCache(ctx context.Context) error {
	cache, err := build.DefaultCache()
	if err != nil {
		return err
	}
	n, bytes := cache.Size()
	if f.json {
		return errors.Join(f.encode(map[string]any{"dir": cache.Dir, "builds": n, "bytes": bytes}), cache.Clean(ctx))
	}
	fmt.Fprintf(f.Out, "the cache holds %s, %s, in %s\n", words.Plural(n, "build"), words.Bytes(bytes), cache.Dir)
	if err := cache.Clean(ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintln(f.Out, "the cache is now empty")
	return err
}

func (f *buildFlags) encode(doc any) error {
	return command.WriteJSON(f.Out, doc)
}

// show prints the builds that exist now, even if one failed.
func (f *buildFlags) show(builds []runner.Build, failed error) error {
	if f.json {
		doc := map[string]any{"builds": append([]runner.Build{}, builds...)}
		if failed != nil {
			doc["error"] = failed.Error()
		}
		return f.encode(doc)
	}
	if len(builds) == 0 && failed == nil {
		_, err := fmt.Fprintln(f.Out, "nothing to build: the suite has no build.command and no build.recipe")
		return err
	}
	width := 0
	for _, b := range builds {
		width = max(width, len(b.Side))
	}
	style := f.Style()
	for _, b := range builds {
		how := fmt.Sprintf("built in %.1f s", b.Seconds)
		if b.Cached {
			how = style.Good("from the cache")
		}
		if c := b.Ccache; c.Hits+c.Misses > 0 {
			how += fmt.Sprintf(", %d of %d from ccache", c.Hits, c.Hits+c.Misses)
		}
		fmt.Fprintf(f.Out, "%-*s  %s: %s\n", width, b.Side, firstLine(b.What), how)
		for _, o := range b.Outputs {
			fmt.Fprintf(f.Out, "%*s  %s\n", width, "", style.Faint(o.Path+"  "+o.Digest[:min(len(o.Digest), len("sha256:")+12)]))
		}
		if b.Note != "" {
			fmt.Fprintf(f.Out, "%*s  %s\n", width, "", style.Warn("note: ")+b.Note)
		}
	}
	return nil
}

// firstLine returns the first line of a text, marked if there are more.
func firstLine(text string) string {
	first, _, more := strings.Cut(text, "\n")
	if more {
		first += " ..."
	}
	return first
}
