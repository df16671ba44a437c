package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"
)

// runner runs go test and keeps what each group gave.
type runner struct {
	dir     string
	out     io.Writer
	started time.Time
	runs    []groupRun
	retries []retried
}

// groupRun is a group with its results. A group whose binary crashed has more than one:
// the tests that the crash left out ran again.
type groupRun struct {
	group   group
	results *results
	stderr  string
	seconds float64
}

// retried is a failed test and what its retries gave.
type retried struct {
	group      group
	pkg, test  string
	firstError string // its output when it failed
	tries      int
	passed     bool
	lastLine   string // go test's, of the last try
}

// group runs one group, then the tests that crashes left without a result.
func (r *runner) group(ctx context.Context, g group) error {
	fmt.Fprintf(r.out, "\n== %s (%.0f s)\n", g.name, time.Since(r.started).Seconds())
	if err := r.goTest(ctx, g); err != nil {
		return err
	}
	for _, p := range slices.Clone(r.runs[len(r.runs)-1].results.packages) {
		if err := r.remainder(ctx, g, p); err != nil {
			return err
		}
	}
	return nil
}

// goTest runs go test -json and prints go test's line for each package.
func (r *runner) goTest(ctx context.Context, g group) error {
	started := time.Now()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, g.args...)...)
	cmd.Dir, cmd.Stderr = r.dir, &stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return fmt.Errorf("cannot run go test: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("cannot run go test: %w", err)
	}
	res, readErr := readResults(stdout, r.progress)
	err = cmd.Wait()
	if _, exited := errors.AsType[*exec.ExitError](err); err != nil && !exited {
		return fmt.Errorf("cannot run go test: %w", err)
	}
	if ctx.Err() != nil {
		return fmt.Errorf("interrupted: %w", ctx.Err())
	}
	if readErr != nil {
		return readErr
	}
	failed := slices.ContainsFunc(res.packages, func(p *pkgResult) bool { return p.status == "fail" })
	if err != nil && !failed { // a wrong flag, a package that does not exist
		return fmt.Errorf("%s: go test %s: %w\n%s%s", g.name, strings.Join(g.args, " "), err, stderr.String(), strings.Join(res.stray, ""))
	}
	r.runs = append(r.runs, groupRun{group: g, results: res, stderr: stderr.String(), seconds: time.Since(started).Seconds()})
	return nil
}

// progress prints a package as go test does: its line, and what failed.
func (r *runner) progress(res *results, p *pkgResult) {
	if p.status != "skip" { // no test files
		fmt.Fprint(r.out, failureText(res, p))
		fmt.Fprintln(r.out, p.lastLine())
	}
}

// failureText returns the output of what failed in a package.
func failureText(res *results, p *pkgResult) string {
	if p.status != "fail" {
		return ""
	}
	if p.failedBuild != "" {
		return strings.Join(res.builds[p.failedBuild], "")
	}
	if p.crashed() != "" || p.raced() {
		return p.text("")
	}
	var b strings.Builder
	for _, name := range p.leaves("fail") {
		b.WriteString(p.text(name))
	}
	return b.String()
}

// remainder runs the tests of p that have no outcome because the binary crashed. It does
// not run those again that made the binary crash: the one that was running, or any that
// were running when the time was up.
func (r *runner) remainder(ctx context.Context, g group, p *pkgResult) error {
	done := map[string]bool{}
	for why := p.crashed(); why != "" && why != outside; why = p.crashed() {
		running := p.unfinished()
		for _, name := range p.tests {
			done[name] = p.outcome[name] != "" || why == timedOut || len(running) == 1
		}
		all, err := r.list(ctx, g, p.path)
		if err != nil {
			return err
		}
		left := slices.DeleteFunc(all, func(name string) bool { return done[name] })
		if len(left) == 0 {
			return nil
		}
		fmt.Fprintf(r.out, "%s %s: running the %d tests that it left out\n", p.path, why, len(left))
		again := group{name: g.name + ", after a crash", args: only(p.path, g.flags, "-run="+exactly(left...)), flags: g.flags}
		if err := r.goTest(ctx, again); err != nil {
			return err
		}
		next := r.runs[len(r.runs)-1].results.pkg(p.path)
		if len(next.unfinished()) == len(left) { // no progress
			return nil
		}
		p = next
	}
	return nil
}

// list returns the top-level tests that the group selects in a package.
func (r *runner) list(ctx context.Context, g group, pkg string) ([]string, error) {
	run := "."
	for _, f := range g.flags {
		if value, ok := strings.CutPrefix(f, "-run="); ok {
			run = value
		}
	}
	cmd := exec.CommandContext(ctx, "go", append([]string{"test"}, only(pkg, g.flags, "-list="+run)...)...)
	cmd.Dir = r.dir
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("cannot list the tests of %s: %w", pkg, err)
	}
	var names []string
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "Test") || strings.HasPrefix(line, "Fuzz") || strings.HasPrefix(line, "Example") {
			names = append(names, line)
		}
	}
	return names, nil
}

// only returns arguments of go test for one package, with more in place of the group's -run. The
// package comes first, since go test looks for none behind a flag that is the test's own.
func only(pkg string, flags []string, more ...string) []string {
	flags = slices.DeleteFunc(slices.Clone(flags), func(f string) bool { return strings.HasPrefix(f, "-run=") })
	return slices.Concat([]string{pkg}, more, flags)
}

// exactly returns a -run pattern for tests of the top level, or for one test of any level.
func exactly(names ...string) string {
	if len(names) == 1 {
		parts := strings.Split(names[0], "/")
		for i, p := range parts {
			parts[i] = "^" + regexp.QuoteMeta(p) + "$"
		}
		return strings.Join(parts, "/")
	}
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = regexp.QuoteMeta(n)
	}
	return "^(" + strings.Join(quoted, "|") + ")$"
}

// retry runs each failed test again by itself until it passes, at most max times: a subtest first without the others,
// then all of its test.
func (r *runner) retry(ctx context.Context, maxTries int) error {
	first := len(r.runs)
	for _, run := range r.runs[:first] {
		for _, p := range run.results.packages {
			for _, name := range retriable(p) {
				t := retried{group: run.group, pkg: p.path, test: name, firstError: p.text(name)}
				if err := r.again(ctx, &t, maxTries); err != nil {
					return err
				}
				r.retries = append(r.retries, t)
			}
		}
	}
	return nil
}

// retriable returns the failed tests of a package that may run again: none if the binary
// crashed or did not compile, if the race detector reported anything, and no fuzz target.
func retriable(p *pkgResult) []string {
	if p.status != "fail" || p.failedBuild != "" || p.crashed() != "" || p.raced() {
		return nil
	}
	return slices.DeleteFunc(p.leaves("fail"), func(name string) bool { return strings.HasPrefix(name, "Fuzz") })
}

func (r *runner) again(ctx context.Context, t *retried, maxTries int) error {
	for t.tries < maxTries && !t.passed {
		name := t.test
		if t.tries > 0 { // a subtest may need those before it
			name, _, _ = strings.Cut(name, "/")
		}
		g := group{
			name:  t.group.name + ", again",
			args:  only(t.pkg, t.group.flags, "-count=1", "-run="+exactly(name)),
			flags: t.group.flags,
		}
		if t.tries == 0 {
			fmt.Fprintf(r.out, "\n== again, by itself: %s %s (%.0f s)\n", t.pkg, t.test, time.Since(r.started).Seconds())
		}
		if err := r.goTest(ctx, g); err != nil {
			return err
		}
		t.tries++
		p := r.runs[len(r.runs)-1].results.pkg(t.pkg)
		r.runs = r.runs[:len(r.runs)-1]
		t.passed = p.status == "pass" && p.outcome[name] == "pass"
		t.lastLine = p.lastLine()
		if p.status == "fail" && len(retriable(p)) == 0 {
			return nil
		}
	}
	return nil
}
