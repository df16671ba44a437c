package build

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/shell"
)

var python = lazyregexp.New(`^python[0-9.]*$`)

// Interpreter returns what a sandbox must show for the Python of a command line: the folders of its
// environment, and the folders of its programs. Both are empty for the system's Python, which is
// always visible, and if the line uses no Python. env is the environment of the command line.
func Interpreter(ctx context.Context, line string, env []string) (read, programs []string) {
	for _, name := range shell.Programs(line) {
		if !python.MatchString(filepath.Base(name)) || !filepath.IsAbs(name) && filepath.Base(name) != name {
			continue
		}
		program := find(name, env)
		if program == "" || slices.ContainsFunc(slices.Concat(systemFolders, systemLinks), func(f string) bool { return within(f, program) }) {
			continue
		}
		folders, executable := environmentOf(ctx, program)
		if executable != "" {
			read, programs = append(read, folders...), append(programs, filepath.Dir(executable))
		}
	}
	return read, programs
}

// find is exec.LookPath with the PATH of env. It ignores relative folders.
func find(name string, env []string) string {
	if filepath.IsAbs(name) {
		return name
	}
	path := ""
	for _, kv := range env {
		if value, ok := strings.CutPrefix(kv, "PATH="); ok {
			path = value
		}
	}
	for _, folder := range filepath.SplitList(path) {
		if program, err := exec.LookPath(filepath.Join(folder, name)); err == nil && filepath.IsAbs(folder) {
			return program
		}
	}
	return ""
}

const askPython = `import json, site, sys
print(json.dumps([sys.executable, sys.prefix, sys.base_prefix, sys.exec_prefix, *site.getsitepackages()]))`

// environmentOf asks an interpreter for its location and those of its packages. It leaves out a folder
// that contains the home folder, because it would expose it.
func environmentOf(ctx context.Context, program string) (folders []string, executable string) {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, "-I", "-c", askPython)
	cmd.Dir = "/"
	out, err := cmd.Output()
	var said []string
	if err != nil || json.Unmarshal(out, &said) != nil || len(said) == 0 {
		return nil, ""
	}
	home, _ := os.UserHomeDir()
	for _, folder := range said[1:] {
		folder = filepath.Clean(folder)
		shown := folder == "/" || home != "" && within(folder, home)
		if filepath.IsAbs(folder) && !shown && !slices.ContainsFunc(slices.Concat(systemFolders, folders), func(f string) bool { return within(f, folder) }) {
			folders = append(folders, folder)
		}
	}
	return folders, said[0]
}
