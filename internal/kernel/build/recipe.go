package build

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// Recipe is one build, ready to run: a command line in a folder, its inputs and its outputs.
type Recipe struct {
	Command string // for sh -c; empty if there is nothing to build
	Title   string // description for users; empty means the command itself
	Dir     string
	Env     []string // added to pawl's own environment
	Outputs []string // globs relative to Dir
	Timeout time.Duration

	Tools  []string // required programs
	Arch   []string // target architectures in compiler spelling: "sm_89"
	Jobs   int      // compilers at once; 0 means as many as the machine supports
	Memory int64    // bytes per compiler; 0 means DefaultMemory
	// Scratch is a folder below Dir for the intermediate files of this build alone. Builds
	// with a scratch folder can run in parallel.
	Scratch string

	Sandbox *Sandbox // nil means no sandbox

	Cache  *Cache   // nil means no caching
	Inputs []string // inputs outside Dir; nil means the whole repository
	Ignore []string // globs relative to Dir of files that pawl and other builds write there
}

// Location describes where a recipe runs.
type Location struct {
	Dir  string
	Arch string // of the device, "sm_89"; empty if there is none
}

// SpecError reports a build that the suite describes incorrectly.
type SpecError struct{ Reason string }

func (e *SpecError) Error() string { return "build: " + e.Reason }

// MissingError reports a build that cannot start, or stopped, because a program is not installed.
// It does not mean that the sources are wrong.
type MissingError struct{ Tool, Why string }

func (e *MissingError) Error() string {
	s := fmt.Sprintf("%s is not installed, or not in PATH", e.Tool)
	if e.Why != "" {
		s += ": " + e.Why
	}
	return s + "\n  pawl doctor --fix shows how to install it"
}

// Compose returns the recipe for a build of a suite whose parameters are all filled in. The caller
// sets Cache.
func Compose(b suite.Build, p Location) (Recipe, error) {
	c := &composer{Build: b, Location: p}
	c.Recipe = Recipe{
		Command: b.Command, Dir: p.Dir, Env: suite.Variables(b.Env), Outputs: b.Outputs, Timeout: b.Timeout,
		Jobs: b.Jobs, Memory: b.Memory, Inputs: b.Inputs,
	}
	if p.Arch != "" {
		c.Recipe.Arch = []string{p.Arch}
	}
	compose, known := map[string]func() error{
		"": c.plain, "command": c.plain, "nvcc": c.nvcc, "cmake": c.cmake, "torch": c.torch, "make": c.make,
	}[b.Recipe]
	if !known {
		return Recipe{}, &SpecError{fmt.Sprintf("unknown recipe %q (known: command, nvcc, cmake, torch, make)", b.Recipe)}
	}
	err := compose()
	return c.Recipe, err
}

// composer builds a recipe.
type composer struct {
	suite.Build
	Location
	Recipe Recipe
}

// plain leaves the command unchanged, so that it works as it does without pawl.
func (c *composer) plain() error { return nil }

// archs returns the architectures to build for. It is empty if the suite leaves the choice to the
// device and there is no device.
func (c *composer) archs() []string {
	var list []string
	for _, a := range c.Build.Arch {
		if a == "auto" {
			a = c.Location.Arch
		}
		if a != "" && !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	if len(c.Build.Arch) == 0 && c.Location.Arch != "" {
		list = []string{c.Location.Arch}
	}
	c.Recipe.Arch = list
	return list
}

// sources returns the files that the globs match, in the order of the globs.
func (c *composer) sources() ([]string, error) {
	var list []string
	for _, glob := range c.Sources {
		if !filepath.IsLocal(glob) && !strings.HasPrefix(glob, "..") {
			return nil, &SpecError{fmt.Sprintf("sources: %q must be relative to the suite", glob)}
		}
		matches, err := filepath.Glob(filepath.Join(globSafe(c.Dir), filepath.FromSlash(glob)))
		if err != nil {
			return nil, &SpecError{fmt.Sprintf("sources: %q is not a glob", glob)}
		}
		if len(matches) == 0 {
			return nil, &SpecError{fmt.Sprintf("sources: no file matches %q in %s", glob, c.Dir)}
		}
		for _, m := range matches {
			rel, err := filepath.Rel(c.Dir, m)
			if err != nil {
				return nil, fmt.Errorf("cannot find the sources: %w", err)
			}
			if !slices.Contains(list, rel) {
				list = append(list, rel)
			}
		}
	}
	return list, nil
}

// globSafe escapes the name of a folder, so that it is not read as a pattern.
func globSafe(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// scratchRoot is the folder for pawl's intermediate files, relative to the suite's folder.
const scratchRoot = ".pawl/build"

// scratch returns a folder for this build alone: other flags give another folder.
func (c *composer) scratch(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	c.Recipe.Scratch = scratchRoot + "/" + hex.EncodeToString(sum[:6])
	return c.Recipe.Scratch
}

// setEnv sets a variable, unless the suite or the user has set it.
func (c *composer) setEnv(name, value string) {
	if c.env(name) == "" {
		c.Recipe.Env = append(c.Recipe.Env, name+"="+value)
	}
}

// env returns the value of a variable as the build sees it.
func (c *composer) env(name string) string { return lookEnv(c.Recipe.Env, name) }

func lookEnv(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value
		}
	}
	return os.Getenv(name)
}

// launcher returns the compiler cache to prefix a compiler with; empty if none is installed. It makes
// paths in the repository relative, so that a base's checkout and the working tree share compiled
// objects.
func (c *composer) launcher() string {
	if lookTool(c.Recipe.Env, "ccache") == "" {
		return ""
	}
	c.setEnv("CCACHE_BASEDIR", suite.Repository(c.Dir))
	return "ccache"
}

// needs adds required programs to the recipe.
func (c *composer) needs(tools ...string) {
	for _, t := range tools {
		if !slices.Contains(c.Recipe.Tools, t) {
			c.Recipe.Tools = append(c.Recipe.Tools, t)
		}
	}
}

// lookTool returns the path of a program as the build would find it; empty if it is not installed.
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

// joinWords joins the nonempty parts with spaces.
func joinWords(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// quote returns a file name as one word of a command line.
func quote(name string) string {
	if strings.HasPrefix(name, "-") {
		name = "./" + name // so that it is not read as an option
	}
	return shell.Quote(name)
}

// environ returns the variables that the command gets in addition to pawl's own environment.
func (r Recipe) environ(more ...string) []string {
	jobs := r.Jobs
	if jobs <= 0 {
		jobs = Capacity(r.Memory)
	}
	return slices.Concat([]string{fmt.Sprintf("PAWL_JOBS=%d", jobs)}, more, r.Env)
}
