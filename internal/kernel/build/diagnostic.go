package build

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// Diagnostic is an error that a tool of a build printed.
type Diagnostic struct {
	File    string // as printed by the tool; empty if none
	Line    int    // from 1; 0 if unknown
	Column  int    // from 1; 0 if unknown
	Message string
	Fix     string // how to fix it; empty if unknown
}

// errorFormat is a format in which a tool prints errors. Its groups are named file, line, column and
// message.
type errorFormat struct {
	pattern *lazyregexp.Regexp
	// weak shapes only report that something failed. They count if no other shape matches.
	weak bool
	// follows reports that the message continues in the indented lines below.
	follows bool
}

func format(pattern string) errorFormat { return errorFormat{pattern: lazyregexp.New(pattern)} }

// shapes is tried in this order on every line.
var shapes = []errorFormat{
	// gcc, clang, and similar
	format(`^(?P<file>[^\s:][^:]*):(?P<line>\d+):(?P<column>\d+): (?:fatal )?error: (?P<message>.+)$`),
	format(`^(?P<file>[^\s:][^:]*):(?P<line>\d+): (?:fatal )?error: (?P<message>.+)$`),
	// nvcc's front end
	format(`^(?P<file>[^\s(][^(]*)\((?P<line>\d+)\): (?:catastrophic )?error(?: #[\w-]+)?: (?P<message>.+)$`),
	format(`^ptxas (?P<file>[^,]+), line (?P<line>\d+); (?:error|fatal) *: (?P<message>.+)$`),
	format(`^(?P<message>(?:ptxas|nvcc|nvlink|fatbinary|cicc) (?:error|fatal) *: .+)$`),
	// linkers
	format(`^(?:\S*ld(?:\.\w+)?: )?(?P<file>[^\s:]+\.\w+):(?P<line>\d+): (?P<message>(?:undefined reference to|multiple definition of) .+)$`),
	format(`^.*?(?P<message>(?:undefined reference to|multiple definition of|undefined symbol:) .+)$`),
	format(`^\S*ld(?:\.\w+)?: (?:error: )?(?P<message>(?:cannot find|unable to find) .+)$`),
	{pattern: lazyregexp.New(`^CMake Error at (?P<file>[^:]+):(?P<line>\d+) \([^)]*\):(?P<message>.*)$`), follows: true},
	{pattern: lazyregexp.New(`^CMake Error(?: in [^:]+)?:(?P<message>.*)$`), follows: true},
	format(`^ninja: (?P<message>(?:error|fatal): .+)$`),
	format(`^(?P<file>[^\s:]*[Mm]akefile[^\s:]*):(?P<line>\d+): \*\*\* (?P<message>.+)$`),
	format(`^g?make(?:\[\d+\])?: \*\*\* (?P<message>No rule to make target .+)$`),
	format(`^(?P<message>\S+: (?:internal compiler error|fatal error): .+)$`),
	format(`^(?:[a-z][\w+.-]*: )?(?P<message>(?:error|fatal error): .+)$`),
	{pattern: lazyregexp.New(`^(?P<message>ninja: build stopped: .+)$`), weak: true},
	{pattern: lazyregexp.New(`^(?P<message>g?make(?:\[\d+\])?: \*\*\* .+)$`), weak: true},
	{pattern: lazyregexp.New(`^(?P<message>FAILED: .+)$`), weak: true},
}

// Python prints the position of an error before its message.
var (
	pythonFile  = lazyregexp.New(`^ +File "([^"]+)", line (\d+)`)
	pythonError = lazyregexp.New(`^((?:\w+\.)*\w*(?:Error|Exception|Interrupt|Exit)): (.+)$`)
)

const (
	maxDiagnosticLines = 500_000
	maxDiagnosticWidth = 4096
	maxMessage         = 500
)

// Errors returns the first errors in the output of a build, at most n, each position once. Errors that
// only report that something failed count if there are no others.
func Errors(log string, n int) []Diagnostic {
	all, weak := findErrors(log, n)
	if len(all) == 0 && len(weak) > 0 {
		return weak[:1]
	}
	return all
}

// firstError returns the first error in the output of a build. Later errors are often its
// consequences. vague is true if the error only reports that something failed; the
// cause is then earlier in the output.
func firstError(log string) (d Diagnostic, vague, ok bool) {
	all, weak := findErrors(log, 1)
	switch {
	case len(all) > 0:
		return all[0].withFix(log), false, true
	case len(weak) > 0:
		return weak[0].withFix(log), true, true
	default:
		return Diagnostic{}, false, false
	}
}

// findErrors returns up to n errors, and the first one that only reports that something failed.
func findErrors(log string, n int) (list, weak []Diagnostic) {
	var at Diagnostic // last position printed by Python
	lines := splitLines(log)
	for i, line := range lines {
		if len(list) >= n {
			break
		}
		if m := pythonFile.FindStringSubmatch(line); m != nil {
			at = Diagnostic{File: clean(m[1]), Line: number(m[2])}
			continue
		}
		if m := pythonError.FindStringSubmatch(line); m != nil && (at.File != "" || strings.HasSuffix(m[1], "Error")) {
			at.Message = clean(m[1] + ": " + m[2])
			list, at = append(list, at), Diagnostic{}
			continue
		}
		d, s, ok := match(line)
		if !ok {
			continue
		}
		if s.follows {
			d.Message = clean(d.Message + " " + paragraph(lines[i+1:]))
		}
		switch {
		case !s.weak && !slices.Contains(list, d):
			list = append(list, d)
		case s.weak && weak == nil:
			weak = []Diagnostic{d}
		}
	}
	return list, weak
}

// splitLines splits a log into lines, and limits how much pawl reads of it.
func splitLines(log string) []string {
	var lines []string
	for line := range strings.Lines(log) {
		if len(lines) == maxDiagnosticLines {
			break
		}
		line = strings.TrimRight(line, "\r\n")
		lines = append(lines, escapes.ReplaceAllString(line[:min(len(line), maxDiagnosticWidth)], ""))
	}
	return lines
}

// escapes matches the color codes that compilers print to a terminal.
var escapes = lazyregexp.New(`\x1b\[[0-9;]*[A-Za-z]`)

func match(line string) (Diagnostic, errorFormat, bool) {
	for _, s := range shapes {
		m := s.pattern.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		var d Diagnostic
		for i, name := range s.pattern.SubexpNames() {
			switch name {
			case "file":
				d.File = clean(m[i])
			case "line":
				d.Line = number(m[i])
			case "column":
				d.Column = number(m[i])
			case "message":
				d.Message = clean(m[i])
			}
		}
		return d, s, true
	}
	return Diagnostic{}, errorFormat{}, false
}

// paragraph joins the indented lines that explain an error of CMake.
func paragraph(lines []string) string {
	var words []string
	for _, line := range lines[:min(len(lines), 12)] {
		if line == "" {
			if len(words) > 0 {
				break
			}
			continue
		}
		if !strings.HasPrefix(line, " ") {
			break
		}
		words = append(words, strings.TrimSpace(line))
	}
	return strings.Join(words, " ")
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// clean removes everything that cannot be printed on one line.
func clean(s string) string { return words.SanitizeTo(s, maxMessage) }

// Where returns the position of the error in the form that editors understand.
func (d Diagnostic) Where() string {
	switch {
	case d.File == "":
		return ""
	case d.Line == 0:
		return d.File
	case d.Column == 0:
		return fmt.Sprintf("%s:%d", d.File, d.Line)
	default:
		return fmt.Sprintf("%s:%d:%d", d.File, d.Line, d.Column)
	}
}

// Text formats the error with its source line, for a build that ran in dir.
func (d Diagnostic) Text(dir string) string {
	text := d.Message
	if where := d.Where(); where != "" {
		text = where + ": " + text
	}
	if line, ok := d.source(dir); ok {
		gutter := strconv.Itoa(d.Line)
		text += fmt.Sprintf("\n%5s | %s", gutter, line)
		if d.Column > 0 && d.Column <= utf8.RuneCountInString(line)+1 {
			text += fmt.Sprintf("\n%5s | %s^", "", strings.Repeat(" ", d.Column-1))
		}
	}
	if d.Fix != "" {
		text += "\nfix: " + d.Fix
	}
	return text
}

// source returns the line that the error is about. The output of a build is untrusted, so only
// files of the repository are shown.
func (d Diagnostic) source(dir string) (string, bool) {
	if d.File == "" || d.Line == 0 {
		return "", false
	}
	top := suite.Repository(dir)
	root, err := os.OpenRoot(top)
	if err != nil {
		return "", false
	}
	defer root.Close()
	for _, name := range []string{d.File, strings.TrimPrefix(filepath.ToSlash(d.File), "../")} {
		if !filepath.IsAbs(name) {
			name = filepath.Join(dir, name)
		}
		abs, err := filepath.Abs(name)
		if err != nil {
			continue
		}
		rel, err := filepath.Rel(top, abs)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		if line, ok := lineOf(root, rel, d.Line); ok {
			return line, true
		}
	}
	return "", false
}

const maxSourceBytes = 4 << 20

func lineOf(root *os.Root, name string, line int) (string, bool) {
	info, err := root.Stat(name)
	if err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	f, err := root.Open(name)
	if err != nil {
		return "", false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSourceBytes))
	if err != nil {
		return "", false
	}
	lines := strings.SplitN(string(text), "\n", line+1)
	if len(lines) < line {
		return "", false
	}
	shown := strings.Map(func(r rune) rune { // keeps columns aligned
		if r == '\t' || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.TrimRight(lines[line-1], "\r"))
	if runes := []rune(shown); len(runes) > 200 {
		shown = string(runes[:200]) + "..."
	}
	return shown, strings.TrimSpace(shown) != ""
}
