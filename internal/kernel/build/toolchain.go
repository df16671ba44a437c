package build

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/measure"
)

// tools lists the programs whose version can explain a result, with the argument that prints it.
var tools = []struct{ name, arg string }{
	{"nvcc", "--version"},
	{"hipcc", "--version"},
	{"gcc", "--version"},
	{"g++", "--version"},
	{"clang", "--version"},
	{"clang++", "--version"},
	{"cc", "--version"},
	{"c++", "--version"},
	{"cmake", "--version"},
	{"ninja", "--version"},
	{"ccache", "--version"},
	{"cargo", "--version"},
	{"rustc", "--version"},
	{"go", "version"},
	{"python3", "--version"},
	{"python", "--version"},
}

var interpreters = []string{"python3", "python", "sh", "bash", "node", "julia", "ruby", "perl"}

// recipeFiles lists the files in which a build names its compilers.
var recipeFiles = []string{"Makefile", "makefile", "GNUmakefile", "CMakeLists.txt", "build.ninja", "setup.py", "pyproject.toml", "Cargo.toml"}

// cudaProject matches a CMake file that needs a CUDA compiler without naming it.
var cudaProject = lazyregexp.New(`(?s)\b(LANGUAGES|enable_language\s*\()[^)]*\bCUDA\b`)

var word = lazyregexp.New(`[A-Za-z0-9_+]+`)

// Named returns the known tools that appear in the commands, or in the recipe files in dir.
func Named(dir string, commands ...string) []string {
	text := strings.Join(commands, "\n")
	for _, name := range recipeFiles {
		text += "\n" + SmallFile(filepath.Join(dir, name))
	}
	if strings.Contains(text, "$(CC)") {
		text += "\ncc"
	}
	if strings.Contains(text, "$(CXX)") || strings.Contains(text, "CMAKE_CXX") {
		text += "\nc++"
	}
	if cudaProject.MatchString(text) {
		text += "\nnvcc"
	}
	words := word.FindAllString(text, -1)
	var names []string
	for _, t := range tools {
		if slices.Contains(words, t.name) {
			names = append(names, t.name)
		}
	}
	return names
}

// SmallFile returns the text of a file. It is empty if the file does not exist, is not a regular file,
// or is larger than 1 MiB. A repository may contain a link to /dev/zero.
func SmallFile(path string) string {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return ""
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(b)
}

// Toolchain returns the version of every installed tool that Named returns.
func Toolchain(ctx context.Context, dir string, commands ...string) []measure.Tool {
	named := Named(dir, commands...)
	var found []measure.Tool
	for _, t := range tools {
		if !slices.Contains(named, t.name) {
			continue
		}
		if version := toolVersion(ctx, t.name, t.arg); version != "" {
			found = append(found, measure.Tool{Name: t.name, Version: version})
		}
	}
	return found
}

// toolVersion returns the line of a tool's output that contains "release ", or else the first line.
func toolVersion(ctx context.Context, name, arg string) string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := exec.CommandContext(ctx, name, arg).Output()
	if err != nil {
		return ""
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	for _, line := range slices.Backward(lines) { // nvcc prints its release last, after a copyright year
		if strings.Contains(line, "release ") {
			return strings.TrimSpace(line)
		}
	}
	return strings.TrimSpace(lines[0])
}
