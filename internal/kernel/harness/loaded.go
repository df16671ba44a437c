package harness

import (
	"bytes"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/scratch"
)

// loadRecorder is a folder in which the Python processes of a command record what they loaded, through a
// module that Python imports before anything else.
type loadRecorder struct{ folder *scratch.Folder }

//go:embed sitecustomize.py
var sitecustomize []byte

// witness creates a witness and returns the environment variables that the command needs for it.
// It returns nil if Loaded is unset.
func (c Command) witness() (*loadRecorder, []string, error) {
	if c.Loaded == nil {
		return nil, nil, nil
	}
	folder, err := scratch.New("", "loaded")
	if err != nil {
		return nil, nil, fmt.Errorf("cannot create a folder to record what a harness loads: %w", err)
	}
	w, dir := &loadRecorder{folder}, folder.Path
	if err := os.WriteFile(filepath.Join(dir, "sitecustomize.py"), sitecustomize, 0o600); err != nil {
		w.remove()
		return nil, nil, fmt.Errorf("cannot create a folder to record what a harness loads: %w", err)
	}
	return w, []string{c.PythonPath(dir), "PAWL_LOADED=" + dir}, nil
}

// PythonPath returns the variable that makes Python search folder before the folders that the command has already.
func (c Command) PythonPath(folder string) string {
	path := os.Getenv("PYTHONPATH")
	for _, e := range c.Env {
		if value, ok := strings.CutPrefix(e, "PYTHONPATH="); ok {
			path = value
		}
	}
	if path != "" {
		path = string(filepath.ListSeparator) + path
	}
	return "PYTHONPATH=" + folder + path
}

// maxReport limits what one Python process can record, in bytes.
const maxReport = 16 << 20

// files returns the files that processes which have ended recorded.
func (w *loadRecorder) files() []string {
	if w == nil {
		return nil
	}
	entries, _ := os.ReadDir(w.folder.Path)
	var files []string
	for _, e := range entries {
		if info, err := e.Info(); err != nil || info.Mode().Type() != fs.FileMode(0) || info.Size() > maxReport || e.Name() == "sitecustomize.py" {
			continue
		}
		text, _ := os.ReadFile(filepath.Join(w.folder.Path, e.Name()))
		for line := range strings.Lines(string(text)) {
			if f := strings.TrimSuffix(line, "\n"); filepath.IsAbs(f) {
				files = append(files, f)
			}
		}
	}
	return files
}

func (w *loadRecorder) remove() {
	if w != nil {
		_ = w.folder.Remove() // it is in the folder for temporary files
	}
}

// loaded calls Command.Loaded with each of files and returns its first error as a failure.
func (c Command) loaded(files ...string) *Error {
	if c.Loaded == nil {
		return nil
	}
	for _, f := range files {
		if err := c.Loaded(f); err != nil {
			return &Error{
				Kind: Foreign, Role: c.Role, Command: c.Line, Detail: printable(err.Error()),
				Hint: "each side's own tree comes first in PYTHONPATH and LD_LIBRARY_PATH: check for an absolute path in sys.path, an editable install with its own finder, an rpath or LD_PRELOAD",
			}
		}
	}
	return nil
}

// report passes files to Command.Loaded and ends the session if one is refused.
func (s *Session) report(files ...string) error {
	if e := s.command.loaded(files...); e != nil {
		s.Kill()
		s.failed = e
		return e
	}
	return nil
}

// checkLoaded passes all files that the processes have mapped as code to report.
func (s *Session) checkLoaded() error {
	if s.command.Loaded == nil {
		return nil
	}
	return s.report(code(s.process.cmd.Process.Pid)...)
}

// code returns the files that the processes of a group have mapped as code: programs and shared
// libraries. It returns none where /proc is missing or not readable for pawl.
func code(group int) []string {
	var files []string
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, name := range stats {
		if stat, err := os.ReadFile(name); err != nil || groupOf(stat) != group {
			continue
		}
		maps, _ := os.ReadFile(filepath.Join(filepath.Dir(name), "maps"))
		for line := range strings.Lines(string(maps)) {
			if f := mappedCode(line); f != "" && !slices.Contains(files, f) {
				files = append(files, f)
			}
		}
	}
	return files
}

// groupOf parses the process group from /proc/PID/stat: "PID (NAME) STATE PARENT GROUP ...". The name
// may contain anything, so parsing starts after the last parenthesis.
func groupOf(stat []byte) int {
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) < 3 {
		return 0
	}
	group, _ := strconv.Atoi(string(fields[2]))
	return group
}

// mappedCode returns the file of a line of /proc/PID/maps if it is mapped as code:
// "ADDRESS r-xp OFFSET DEVICE INODE   /usr/lib/libc.so.6".
func mappedCode(line string) string {
	fields := strings.Fields(line)
	at := strings.IndexByte(line, '/')
	if len(fields) < 6 || at < 0 || !strings.HasPrefix(fields[5], "/") || !strings.Contains(fields[1], "x") {
		return ""
	}
	return strings.TrimSuffix(strings.TrimSuffix(line[at:], "\n"), " (deleted)")
}
