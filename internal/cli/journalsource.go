package cli

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/kernel/affected"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/discover"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// sessionOf returns the session that a command belongs to, and its folder. The search starts at the folder
// of the suite that the command names, or else at this one, and goes up.
func (g *globals) sessionOf(cmd *cobra.Command) (*journal.Writer, string, error) {
	at := "."
	if f := cmd.Flag("suite"); f != nil && f.Value.String() != "" {
		at = filepath.Dir(f.Value.String())
	}
	root, ok := sessionRoot(at)
	if !ok {
		return nil, "", journal.ErrNoSession
	}
	w, err := journal.Folder{Root: root, Now: g.now}.Open()
	return w, root, err
}

// sessionRoot returns the nearest folder, at or above at, that has journals of open sessions. It stops
// at the top of the repository.
func sessionRoot(at string) (string, bool) {
	for range 40 {
		if names, err := os.ReadDir(filepath.Join(at, filepath.FromSlash(journal.Dir), "open")); err == nil {
			if slices.ContainsFunc(names, func(e fs.DirEntry) bool { return strings.HasSuffix(e.Name(), ".jsonl") }) {
				return at, true
			}
		}
		if env.Exists(filepath.Join(at, ".git")) {
			return "", false
		}
		above := filepath.Join(at, "..")
		if one, err := os.Stat(at); err == nil {
			if other, err := os.Stat(above); err != nil || os.SameFile(one, other) {
				return "", false
			}
		}
		at = above
	}
	return "", false
}

// sourceState is the current state of the kernel's source and of what it is measured with.
type sourceState struct {
	now        journal.Sources
	definition string
	changes    []journal.Change // since the last measurement
	suite      *suite.Suite     // nil if it cannot be read
	trouble    error
}

func (s sourceState) did() journal.Did {
	return journal.Did{Source: s.now.Digest(), Definition: s.definition, Changes: s.changes}
}

// readSourceState returns the state of the source in the folder of a suite.
func readSourceState(ctx context.Context, w *journal.Writer, root string) sourceState {
	var st sourceState
	session := w.Session()
	file := filepath.Join(root, path.Base(filepath.ToSlash(session.Suite)))
	s, err := suite.Load(file)
	if err != nil { // the user may be editing it
		text, _ := os.ReadFile(file)
		st.definition = journal.Digest(text)
		s = &suite.Suite{}
	} else {
		st.suite = s
		st.definition = definitionOf(s, root, session.Benchmark)
	}
	top := topOf(root)
	kept, measured := w.Kept()
	st.now, st.trouble = journal.TakeSources(top, kernelFiles(ctx, s, root))
	st.now.Parameters, st.now.Flags = parametersOf(s), flagsOf(s)
	if measured && st.trouble == nil {
		st.changes = w.Changes(ctx, kept, st.now)
	}
	return st
}

// definitionOf returns the digest of what the kernel is measured with.
func definitionOf(s *suite.Suite, root, benchmark string) string {
	lines := []string{s.Terms(benchmark)}
	digests, err := build.Digests(root, s.Definition)
	if err != nil {
		lines[0] += err.Error()
	}
	for _, d := range digests {
		lines = append(lines, d.Path+" "+d.Digest)
	}
	return journal.Digest([]byte(strings.Join(lines, "\n")))
}

// topOf returns the top of the repository that contains a folder, or the folder itself.
func topOf(root string) string {
	at, err := filepath.Abs(root)
	if err != nil {
		return root
	}
	for top := at; ; top = filepath.Dir(top) {
		if env.Exists(filepath.Join(top, ".git")) {
			return top
		}
		if top == filepath.Dir(top) {
			return at
		}
	}
}

// maxKernelFiles limits the source files of a kernel. The folder of a suite is small, or build.inputs names
// what matters.
const maxKernelFiles = 2000

// kernelFiles returns the source files of a kernel, as paths from the top: what git sees in the folder of the
// suite, and what its build names. Files that define the measurement, and build outputs, are left out.
func kernelFiles(ctx context.Context, s *suite.Suite, root string) []string {
	var excluded []string
	exclude := slices.Concat(s.Definition, ownFiles(s))
	within := []string{"."}
	for _, i := range s.Implementations {
		exclude = append(exclude, i.Build.Outputs...)
		if i.Name == suite.Candidate {
			within = slices.Concat(within, i.Build.Sources, i.Build.Inputs)
		}
	}
	for _, glob := range exclude {
		excluded = append(excluded, path.Join(filepath.ToSlash(fromTop(root, root)), glob))
	}
	var files []string
	for _, part := range within { // one by one: git fails for all of them if one is outside the repository
		out, err := shell.GitOutput(ctx, root, "ls-files", "-z", "--full-name", "--cached", "--others", "--exclude-standard", "--", part)
		if err == nil {
			files = append(files, strings.Split(out, "\x00")...)
		}
	}
	files = slices.DeleteFunc(files, func(name string) bool {
		return !isSource(path.Base(name)) || slices.ContainsFunc(excluded, func(glob string) bool { return affected.Match(glob, name) })
	})
	slices.Sort(files)
	files = slices.Compact(files)
	return files[:min(len(files), maxKernelFiles)]
}

// ownFiles returns the names of the suite's own files, always including pawl.yaml.
func ownFiles(s *suite.Suite) []string {
	list := []string{discover.SuiteFile}
	for _, f := range s.Files {
		if !path.IsAbs(f) {
			list = append(list, path.Base(f))
		}
	}
	return list
}

var sourceEndings = []string{
	".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".inl", ".ipp", ".cu", ".cuh", ".cl", ".hip", ".py", ".pyx",
	".ptx", ".mk", ".cmake", ".s", ".asm", ".metal", ".mm",
}

func isSource(name string) bool {
	lower := strings.ToLower(name)
	return slices.Contains(sourceEndings, path.Ext(lower)) || strings.HasPrefix(lower, "makefile") || lower == "cmakelists.txt" || lower == "setup.cfg"
}

// parametersOf returns the default values of the tunable parameters.
func parametersOf(s *suite.Suite) map[string]string {
	values := map[string]string{}
	for _, b := range s.Benchmarks {
		if b.Tune == nil {
			continue
		}
		for name, v := range b.Tune.Defaults() {
			if len(s.Benchmarks) > 1 {
				name = b.Name + "/" + name
			}
			values[name] = fmt.Sprint(v)
		}
	}
	return values
}

// flagsOf returns how the candidate is built, as far as the suite says.
func flagsOf(s *suite.Suite) map[string]string {
	flags := map[string]string{}
	i, ok := s.Implementation(suite.Candidate)
	if !ok {
		return flags
	}
	for name, value := range map[string]string{
		"flags": i.Build.Flags, "link": i.Build.Link, "target": i.Build.Target, "command": i.Build.Command, "arch": strings.Join(i.Build.Arch, " "),
	} {
		if value != "" {
			flags[name] = value
		}
	}
	for name, value := range i.Build.Env {
		flags["env"] = strings.TrimSpace(flags["env"] + " " + name + "=" + value)
	}
	if flags["env"] != "" {
		words := strings.Fields(flags["env"])
		slices.Sort(words)
		flags["env"] = strings.Join(words, " ")
	}
	return flags
}
