package discover

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// Command is a benchmark command as a user types it, and what is known about its results.
type Command struct {
	Args    []string
	Build   string // builds one side; empty means nothing to build
	Format  string // empty means: find out by running it
	Pattern string // of format lines
	Output  string // the file with its results; empty means stdout
	// Scripts are the files of the command that define the measurement: see CommandScripts.
	Scripts []string
}

// commandTimeout is how long a command may print nothing. A benchmark that prints only at its end is not hung.
const commandTimeout = "30m"

// ComposeCommand returns the suite that measures a command.
func ComposeCommand(c Command) ([]byte, error) {
	line := make([]string, len(c.Args))
	for i, a := range c.Args {
		line[i] = shell.Quote(a)
	}
	return compose("# Measures a command; its results are not checked. pawl suite schema suite lists all keys.\n", c.Name(), Finding{
		Level: Tool, Source: c.Name(), Cases: Cases{Definition: c.Scripts},
		Build: suite.Build{Command: literal(c.Build)},
		Harness: suite.Harness{
			Command: literal(strings.Join(line, " ")), Format: cmp.Or(c.Format, "auto"), Output: literal(c.Output), Pattern: c.Pattern,
		},
	}, nil)
}

// literal keeps ${NAME}, which a suite would replace with a parameter.
func literal(s string) string { return strings.ReplaceAll(s, "${", "$${") }

// Name returns the name of the command in reports: that of its script, or of its program.
func (c Command) Name() string {
	if len(c.Scripts) > 0 {
		return filepath.Base(c.Scripts[0])
	}
	return filepath.Base(c.Args[0])
}

// CommandScripts returns the files below dir that a command names and that define what it measures: its script, and other
// text files that are tracked. A program that was built is not one of them, nor a result of an earlier run.
func CommandScripts(dir string, args []string, built bool, tracked func(file string) bool) []string {
	var list []string
	script := true // the first file of the command is the program or its script
	for _, word := range args {
		file, _, _ := strings.Cut(word, "::") // a test of pytest: tests/test_it.py::test_sum[4]
		file = filepath.Clean(file)
		if !filepath.IsLocal(file) || strings.ContainsAny(file, `*?[\`) {
			continue
		}
		isText, ok := textFile(filepath.Join(dir, file))
		if !ok {
			continue
		}
		if isText && (tracked(file) || script && !built) && !slices.Contains(list, file) {
			list = append(list, filepath.ToSlash(file))
		}
		script = false
	}
	return list
}

// textFile reports whether a regular file contains text; ok is false for anything that is not a regular file.
func textFile(path string) (isText, ok bool) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false, false
	}
	f, err := os.Open(path)
	if err != nil {
		return false, false
	}
	defer f.Close()
	head := make([]byte, 8000)
	n, _ := io.ReadFull(f, head) // a short file ends early
	return !bytes.Contains(head[:n], []byte{0}), true
}
