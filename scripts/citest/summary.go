package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// summary is what CI says at the end.
type summary struct {
	tests    int
	skipped  map[string]int // tests by reason
	refused  []string       // skips for reasons that are not allowed
	flaky    []retried
	failures []failure
	lines    []string // go test's own, of packages that passed
	packages []timed
	slowest  []timed // tests
}

// timed is a package or a test and how long it took.
type timed struct {
	what    string
	seconds float64
}

// failure is something that fails CI: what, go test's output about it, and go test's line.
type failure struct{ what, text, line string }

func (s *summary) passed() bool { return len(s.failures) == 0 && len(s.refused) == 0 }

func (r *runner) summarize(allowed []*regexp.Regexp) *summary {
	s := &summary{skipped: map[string]int{}}
	for _, run := range r.runs {
		for _, p := range run.results.packages {
			s.tests += len(p.leaves("pass")) + len(p.leaves("fail"))
			s.packages = append(s.packages, timed{run.group.name + " " + p.path, p.seconds})
			for _, name := range p.tests {
				if !strings.Contains(name, "/") {
					s.slowest = append(s.slowest, timed{run.group.name + " " + p.path + " " + name, p.took[name]})
				}
			}
			s.skips(p, allowed)
			s.outcome(r, run, p)
		}
		if noTests(run) {
			s.failures = append(s.failures, failure{what: run.group.name + ": no test ran; its -run and -skip leave nothing"})
		}
	}
	return s
}

// noTests reports whether a group ran nothing, as with a pattern that matches no test.
func noTests(run groupRun) bool {
	return !slices.ContainsFunc(run.results.packages, func(p *pkgResult) bool { return p.failedBuild != "" || len(p.tests) > 0 })
}

func (s *summary) skips(p *pkgResult, allowed []*regexp.Regexp) {
	for _, name := range p.leaves("skip") {
		reason := skipReason(p.text(name))
		s.skipped[reason]++
		ok := func(a *regexp.Regexp) bool { return a.MatchString(reason) }
		if !slices.ContainsFunc(allowed, ok) {
			s.refused = append(s.refused, fmt.Sprintf("%s %s: %s", p.path, name, reason))
		}
	}
}

// skipReason returns what a test said when it skipped, without the file and line.
func skipReason(output string) string {
	place := regexp.MustCompile(`^\s*[\w.-]+:\d+: `)
	var reason []string
	for line := range strings.Lines(output) {
		text := strings.TrimSpace(place.ReplaceAllString(line, ""))
		if text != "" && !strings.HasPrefix(text, "=== ") && !strings.HasPrefix(text, "--- ") {
			reason = append(reason, text)
		}
	}
	if len(reason) == 0 {
		return "no reason given"
	}
	return reason[len(reason)-1]
}

// outcome sorts a package into passed, flaky and failed.
func (s *summary) outcome(r *runner, run groupRun, p *pkgResult) {
	if p.status == "pass" {
		s.lines = append(s.lines, p.lastLine())
	}
	if p.status != "fail" {
		return
	}
	may := retriable(p)
	passed := ""
	stay := len(may) < len(p.leaves("fail")) || len(may) == 0
	for _, t := range r.retries {
		if t.pkg != p.path || t.group.name != run.group.name || !slices.Contains(may, t.test) {
			continue
		}
		if t.passed {
			s.flaky, passed = append(s.flaky, t), t.lastLine
		} else {
			stay = true
		}
	}
	if !stay {
		s.lines = append(s.lines, passed+" (flaky)")
		return
	}
	what := p.path
	if why := p.crashed(); why != "" {
		what += " " + why
	}
	s.failures = append(s.failures, failure{what: what, text: failureText(run.results, p), line: p.lastLine()})
}

// print writes the summary. Its last lines are go test's own, those of failed packages
// last, and then CI's one line.
func (s *summary) print(w io.Writer, took time.Duration) {
	skipped := 0
	if len(s.skipped) > 0 {
		fmt.Fprintln(w, "\n== skipped")
	}
	reasons := make([]string, 0, len(s.skipped))
	for reason, n := range s.skipped {
		reasons, skipped = append(reasons, reason), skipped+n
	}
	slices.SortFunc(reasons, func(a, b string) int { return cmp.Or(s.skipped[b]-s.skipped[a], strings.Compare(a, b)) })
	for _, reason := range reasons {
		fmt.Fprintf(w, "%5d  %s\n", s.skipped[reason], reason)
	}
	if len(s.flaky) > 0 {
		fmt.Fprintln(w, "\n== flaky: failed once, passed by itself. Each is a defect.")
	}
	for _, f := range s.flaky {
		fmt.Fprintf(w, "%s %s (%s), try %d passed\n%s", f.pkg, f.test, f.group.name, f.tries, indent(f.firstError, maxFlakyLines))
	}
	printSlowest(w, "packages", s.packages)
	printSlowest(w, "tests", s.slowest)
	fmt.Fprintln(w, "\n== go test")
	for _, line := range s.lines {
		fmt.Fprintln(w, line)
	}
	for _, f := range s.failures {
		fmt.Fprintf(w, "--- %s\n%s", f.what, f.text)
	}
	for _, f := range s.refused {
		fmt.Fprintf(w, "--- skipped, and .ci/skips does not allow it: %s\n", f)
	}
	for _, f := range s.failures {
		if f.line != "" {
			fmt.Fprintln(w, f.line)
		}
	}
	fmt.Fprintf(w, "ci: %.0f s, %d tests, %d skipped, %d flaky\n", took.Seconds(), s.tests, skipped, len(s.flaky))
}

func printSlowest(w io.Writer, what string, list []timed) {
	fmt.Fprintf(w, "\n== slowest %s, in seconds\n", what)
	slices.SortFunc(list, func(a, b timed) int { return cmp.Compare(b.seconds, a.seconds) })
	for _, x := range list[:min(10, len(list))] {
		fmt.Fprintf(w, "%7.1f  %s\n", x.seconds, x.what)
	}
}

// maxFlakyLines bounds what the summary shows of a flaky test; the file of -flaky has all.
const maxFlakyLines = 40

// indent returns the last lines of a text, indented.
func indent(text string, maxLines int) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	return "    " + strings.Join(lines[max(0, len(lines)-maxLines):], "\n    ") + "\n"
}

// readSkips reads regular expressions, one per line, that a reason to skip must match.
func readSkips(path string) ([]*regexp.Regexp, error) {
	if path == "" {
		return []*regexp.Regexp{regexp.MustCompile("")}, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read allowed skips: %w", err)
	}
	defer f.Close()
	var list []*regexp.Regexp
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		e, err := regexp.Compile(line)
		if err != nil {
			return nil, fmt.Errorf("cannot read allowed skips: %s: %w", path, err)
		}
		list = append(list, e)
	}
	return list, nil
}

// appendFlaky records flaky tests in a file that outlives the run.
func appendFlaky(ctx context.Context, dir, path string, flaky []retried) error {
	if path == "" || len(flaky) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("cannot record flaky tests: %w", err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("cannot record flaky tests: %w", err)
	}
	git := exec.CommandContext(ctx, "git", "rev-parse", "HEAD")
	git.Dir = dir
	commit, _ := git.Output() // none outside of a repository
	for _, t := range flaky {
		line, err := json.Marshal(map[string]any{
			"time": time.Now().UTC().Format(time.RFC3339), "commit": strings.TrimSpace(string(commit)),
			"group": t.group.name, "package": t.pkg, "test": t.test, "tries": t.tries, "output": t.firstError,
		})
		if err == nil {
			_, err = f.Write(append(line, '\n'))
		}
		if err != nil {
			_ = f.Close()
			return fmt.Errorf("cannot record flaky tests: %w", err)
		}
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("cannot record flaky tests: %w", err)
	}
	return nil
}
