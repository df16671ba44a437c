package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
)

// event is one line of go test -json.
type event struct {
	Action      string
	Package     string
	ImportPath  string // of build-output and build-fail
	Test        string
	Output      string
	Elapsed     float64 // seconds
	FailedBuild string
}

// pkgResult is what one package did in one group.
type pkgResult struct {
	path        string
	status      string  // pass, fail or skip (no test files)
	seconds     float64 // of its tests, without compiling
	failedBuild string
	output      []outputLine
	tests       []string          // as they started
	outcome     map[string]string // pass, fail or skip by test; none if the binary crashed
	took        map[string]float64
}

// outputLine is a line that a test printed, or the package if test is empty.
type outputLine struct{ test, text string }

// results are the packages of one go test invocation.
type results struct {
	packages []*pkgResult
	builds   map[string][]string // compiler output by import path
	stray    []string            // lines that are not JSON
}

func (r *results) pkg(path string) *pkgResult {
	for _, p := range r.packages {
		if p.path == path {
			return p
		}
	}
	p := &pkgResult{path: path, outcome: map[string]string{}, took: map[string]float64{}}
	r.packages = append(r.packages, p)
	return p
}

// readResults reads the output of go test -json and calls done for each finished package.
func readResults(stdout io.Reader, done func(*results, *pkgResult)) (*results, error) {
	r := &results{builds: map[string][]string{}}
	lines := bufio.NewReader(stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			r.add(line, done)
		}
		if err == io.EOF {
			return r, nil
		}
		if err != nil {
			return r, fmt.Errorf("cannot read the output of go test: %w", err)
		}
	}
}

func (r *results) add(line []byte, done func(*results, *pkgResult)) {
	var e event
	if err := json.Unmarshal(line, &e); err != nil {
		r.stray = append(r.stray, string(line))
		return
	}
	if strings.HasPrefix(e.Action, "build-") {
		r.builds[e.ImportPath] = append(r.builds[e.ImportPath], e.Output)
		return
	}
	p := r.pkg(e.Package)
	switch {
	case e.Action == "output":
		p.output = append(p.output, outputLine{e.Test, e.Output})
	case e.Action == "run":
		p.tests = append(p.tests, e.Test)
	case e.Test != "" && isFinal(e.Action):
		p.outcome[e.Test], p.took[e.Test] = e.Action, e.Elapsed
	case isFinal(e.Action):
		p.status, p.failedBuild, p.seconds = e.Action, e.FailedBuild, e.Elapsed
		done(r, p)
	}
}

func isFinal(action string) bool { return action == "pass" || action == "fail" || action == "skip" }

// leaves returns the tests with the outcome that have no subtest with it.
func (p *pkgResult) leaves(outcome string) []string {
	var names []string
	for _, name := range p.tests {
		if p.outcome[name] != outcome {
			continue
		}
		parent := slices.ContainsFunc(p.tests, func(other string) bool {
			return strings.HasPrefix(other, name+"/") && p.outcome[other] == outcome
		})
		if !parent {
			names = append(names, name)
		}
	}
	return names
}

// unfinished returns the top-level tests that started and have no outcome.
func (p *pkgResult) unfinished() []string {
	return slices.DeleteFunc(slices.Clone(p.tests), func(name string) bool {
		return strings.Contains(name, "/") || p.outcome[name] != ""
	})
}

// crashed reports why the test binary ended before all of its tests did, or "" if it
// did not. A binary that ends by itself prints FAIL last.
func (p *pkgResult) crashed() string {
	if p.status != "fail" || p.failedBuild != "" {
		return ""
	}
	switch {
	case strings.Contains(p.text(""), "panic: test timed out after "):
		return timedOut
	case len(p.unfinished()) > 0 || !slices.Contains(p.output, outputLine{"", "FAIL\n"}):
		return "crashed"
	case len(p.leaves("fail")) == 0:
		return outside
	}
	return ""
}

const (
	timedOut = "timed out"
	outside  = "failed outside of any test" // as in TestMain
)

// raced reports whether the race detector found a race. Its report may stand in the output
// of another test than the one that raced.
func (p *pkgResult) raced() bool { return strings.Contains(p.text(""), "WARNING: DATA RACE") }

// text returns the output of a test and of its subtests, or everything if name is empty.
func (p *pkgResult) text(name string) string {
	var b strings.Builder
	for _, line := range p.output {
		if name == "" || line.test == name || strings.HasPrefix(line.test, name+"/") {
			b.WriteString(line.text)
		}
	}
	return b.String()
}

// lastLine is go test's own line about the package, which starts with "ok" or "FAIL".
func (p *pkgResult) lastLine() string {
	for _, line := range slices.Backward(p.output) {
		if strings.HasPrefix(line.text, "ok  ") || strings.HasPrefix(line.text, "FAIL\t") {
			return strings.TrimRight(line.text, "\n")
		}
	}
	return p.status + "\t" + p.path
}
