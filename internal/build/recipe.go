package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/suite"
)

// Recipe is one build, ready to run: a command line in a folder, what it reads and
// what it makes.
type Recipe struct {
	Command string // for sh -c; empty when nothing has to be built
	Title   string // what a person is told; empty for the command itself
	Dir     string
	Env     []string // added to pawl's own
	Outputs []string // globs below Dir
	Timeout time.Duration

	Tools  []string // programs without which it cannot begin
	Arch   []string // what it is built for, as compilers are told: "sm_89"
	Jobs   int      // compilers at once; 0 for as many as the machine carries
	Memory int64    // bytes one compiler may take; 0 for DefaultMemory
	// Scratch is a folder below Dir for what is made on the way, of this build alone.
	// Builds that have one can run beside each other.
	Scratch string

	Sandbox *Sandbox // what keeps the command away from everything else; nil for nothing

	Cache  *Cache   // where finished builds are kept; nil for nowhere
	Inputs []string // what is read beside Dir; nil for the whole repository
	Ignore []string // globs below Dir of what pawl and other builds make there
}

// Place is where a recipe is to run.
type Place struct {
	Dir  string
	Arch string // of the device, "sm_89"; empty when there is none
}

// SpecError is a build that a suite describes wrongly.
type SpecError struct{ Reason string }

func (e *SpecError) Error() string { return "build: " + e.Reason }

// MissingError is a build that cannot begin, or that broke off, because a program
// is not installed. That says nothing about the sources.
type MissingError struct{ Tool, Why string }

func (e *MissingError) Error() string {
	s := fmt.Sprintf("%s is not installed, or not in PATH", e.Tool)
	if e.Why != "" {
		s += ": " + e.Why
	}
	return s + "\n  pawl setup says how to get it"
}

// Compose makes the command line of a build that a suite describes, with all
// parameters filled in. A nil Cache is left to the caller.
func Compose(b suite.Build, p Place) (Recipe, error) {
	c := &composer{Build: b, Place: p}
	c.Recipe = Recipe{
		Command: b.Command, Dir: p.Dir, Env: environ(b.Env), Outputs: b.Outputs, Timeout: b.Timeout,
		Jobs: b.Jobs, Memory: b.Memory, Inputs: b.Inputs,
	}
	if p.Arch != "" {
		c.Recipe.Arch = []string{p.Arch}
	}
	compose, known := map[string]func() error{
		"": c.plain, "command": c.plain, "nvcc": c.nvcc, "cmake": c.cmake, "torch": c.torch, "make": c.make,
	}[b.Recipe]
	if !known {
		return Recipe{}, &SpecError{fmt.Sprintf("there is no recipe %q", b.Recipe)}
	}
	err := compose()
	return c.Recipe, err
}

// composer is a recipe in the making.
type composer struct {
	suite.Build
	Place
	Recipe Recipe
}

func environ(env map[string]string) []string {
	var list []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		list = append(list, name+"="+env[name])
	}
	return list
}

// plain leaves a command alone: it does what it did without pawl.
func (c *composer) plain() error { return nil }

// archs are the architectures to build for; none when the suite leaves it to the
// device and there is no device.
func (c *composer) archs() []string {
	var list []string
	for _, a := range c.Build.Arch {
		if a == "auto" {
			a = c.Place.Arch
		}
		if a != "" && !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	if len(c.Build.Arch) == 0 && c.Place.Arch != "" {
		list = []string{c.Place.Arch}
	}
	c.Recipe.Arch = list
	return list
}

// sources are the files that the globs match, in the order of the globs.
func (c *composer) sources() ([]string, error) {
	var list []string
	for _, glob := range c.Sources {
		if !filepath.IsLocal(glob) && !strings.HasPrefix(glob, "..") {
			return nil, &SpecError{fmt.Sprintf("sources: %q is not relative to the suite", glob)}
		}
		matches, err := filepath.Glob(filepath.Join(globSafe(c.Dir), filepath.FromSlash(glob)))
		if err != nil {
			return nil, &SpecError{fmt.Sprintf("sources: %q is not a glob", glob)}
		}
		if len(matches) == 0 {
			return nil, &SpecError{fmt.Sprintf("sources: nothing matches %q in %s", glob, c.Dir)}
		}
		for _, m := range matches {
			rel, err := filepath.Rel(c.Dir, m)
			if err != nil {
				return nil, fmt.Errorf("find the sources: %w", err)
			}
			if !slices.Contains(list, rel) {
				list = append(list, rel)
			}
		}
	}
	return list, nil
}

// globSafe keeps the letters of a folder's name from being read as a pattern.
func globSafe(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// scratchRoot holds what pawl makes on the way, below the suite's folder.
const scratchRoot = ".pawl/build"

// scratch names a folder for this build alone: one with other flags has another.
func (c *composer) scratch(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	c.Recipe.Scratch = scratchRoot + "/" + hex.EncodeToString(sum[:6])
	return c.Recipe.Scratch
}

// setEnv sets a variable that neither the suite nor the user has set.
func (c *composer) setEnv(name, value string) {
	if c.env(name) == "" {
		c.Recipe.Env = append(c.Recipe.Env, name+"="+value)
	}
}

// env is a variable as the build will see it.
func (c *composer) env(name string) string { return lookEnv(c.Recipe.Env, name) }

func lookEnv(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return os.Getenv(name)
}

// launcher is the compiler cache to put before a compiler; empty where none is
// installed. Paths below the repository are made relative in it, so that a base's
// checkout and the working tree share what was compiled.
func (c *composer) launcher() string {
	if lookTool(c.Recipe.Env, "ccache") == "" {
		return ""
	}
	root := c.Dir
	if repo, err := Open(context.Background(), c.Dir); err == nil {
		root = repo.Root
	}
	if abs, err := filepath.Abs(root); err == nil {
		c.setEnv("CCACHE_BASEDIR", abs)
	}
	return "ccache"
}

// needs says which programs must be here.
func (c *composer) needs(tools ...string) {
	for _, t := range tools {
		if !slices.Contains(c.Recipe.Tools, t) {
			c.Recipe.Tools = append(c.Recipe.Tools, t)
		}
	}
}

// lookTool finds a program as the build would; empty when it is not there.
func lookTool(env []string, name string) string {
	if strings.ContainsRune(name, '/') {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
		return ""
	}
	for _, dir := range filepath.SplitList(lookEnv(env, "PATH")) {
		if dir == "" {
			continue
		}
		path, err := exec.LookPath(filepath.Join(dir, name))
		if err == nil || errors.Is(err, exec.ErrDot) {
			return path
		}
	}
	return ""
}

// words joins what is not empty.
func words(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// quote makes a file's name one word of a command line.
func quote(name string) string {
	plain := func(r rune) bool {
		return r < 128 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_./+,:@%=-", r))
	}
	if name != "" && !strings.ContainsFunc(name, func(r rune) bool { return !plain(r) }) && name[0] != '-' {
		return name
	}
	if name != "" && name[0] == '-' {
		name = "./" + name // never an option
	}
	return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
}

// environ is what the command is given beside pawl's own environment.
func (r Recipe) environ(more ...string) []string {
	jobs := r.Jobs
	if jobs <= 0 {
		jobs = Capacity(r.Memory)
	}
	return slices.Concat([]string{fmt.Sprintf("PAWL_JOBS=%d", jobs)}, more, r.Env)
}
