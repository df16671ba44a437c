package harness

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// maxLoaded limits the files that one session can report.
const maxLoaded = 1 << 16

// report passes files that are new in this session on to Command.Loaded.
func (s *Session) report(doing string, files []string) error {
	if s.command.Loaded == nil {
		return nil
	}
	for _, f := range files {
		if s.loaded[f] || !filepath.IsAbs(f) {
			continue
		}
		if len(s.loaded) == maxLoaded {
			return s.fail(Garbage, doing, "it reports more than "+strconv.Itoa(maxLoaded)+" files", "")
		}
		s.loaded[f] = true
		if err := s.command.Loaded(f); err != nil {
			return s.fail(Foreign, doing, printable(err.Error()), "each side's own tree comes first on PYTHONPATH and LD_LIBRARY_PATH: look for an absolute path in sys.path, in an rpath or in LD_PRELOAD")
		}
	}
	return nil
}

// look reports what the processes have mapped as code.
func (s *Session) look(doing string) error {
	if s.command.Loaded == nil {
		return nil
	}
	return s.report(doing, code(s.process.cmd.Process.Pid))
}

// code returns the files that the processes of a group have mapped as code: programs and shared
// libraries. It finds none where the system does not say (/proc), or does not say it to pawl.
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

// groupOf reads the process group of /proc/PID/stat: "PID (NAME) STATE PARENT GROUP ...". The name
// may contain anything, so the last parenthesis counts.
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
