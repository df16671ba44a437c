// Command citest runs CI's go tests and decides whether CI passes.
//
// It reads a plan from standard input, one group of tests per line:
//
//	races: -race ./internal/server/queue ./internal/fleet/wake
//	tests: -skip TestMeasured ./...
//
// A group is one go test invocation. After all groups, each test that failed runs again
// by itself, at most twice: a subtest first without the others of its test, then with them.
// A test that then passes is flaky: it is reported, and CI passes. Data races, panics, timeouts, compile errors and failed fuzz inputs are never
// retried. Tests that never ran because their binary crashed do run, so that one CI run
// reports every failure.
//
// A test may be skipped only for a reason that the file named by -skips allows.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	passed, err := run(ctx, os.Args[1:], os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "citest:", err)
		os.Exit(3)
	}
	if !passed {
		os.Exit(1)
	}
}

// run carries out the plan and reports whether CI passes.
func run(ctx context.Context, args []string, plan io.Reader, out io.Writer) (bool, error) {
	flags := flag.NewFlagSet("citest", flag.ContinueOnError)
	dir := flags.String("C", ".", "run go test in this folder")
	skips := flags.String("skips", "", "file of allowed reasons to skip a test")
	flaky := flags.String("flaky", "", "file to which flaky tests are appended, one JSON document per line")
	started := flags.Int64("started", time.Now().Unix(), "when CI started, in seconds since 1970")
	retries := flags.Int("retries", 2, "how often a failed test runs again")
	failed := flags.String("failed", "", "an earlier step that failed; tests run, and CI fails")
	if err := flags.Parse(args); err != nil {
		return false, fmt.Errorf("cannot parse flags: %w", err)
	}
	groups, err := readPlan(plan)
	if err != nil {
		return false, err
	}
	allowed, err := readSkips(*skips)
	if err != nil {
		return false, err
	}

	r := runner{dir: *dir, out: out, started: time.Unix(*started, 0)}
	for _, g := range groups {
		if err := r.group(ctx, g); err != nil {
			return false, err
		}
	}
	if err := r.retry(ctx, *retries); err != nil {
		return false, err
	}
	s := r.summarize(allowed)
	if *failed != "" {
		s.failures = append(s.failures, failure{what: *failed + " failed, see above"})
	}
	s.print(out, time.Since(r.started))
	if err := appendFlaky(ctx, *dir, *flaky, s.flaky); err != nil {
		return false, err
	}
	return s.passed(), nil
}

// group is one go test invocation.
type group struct {
	name  string
	args  []string // flags and packages
	flags []string // args without the packages
}

// readPlan reads "name: arguments" lines. Arguments are separated by blanks and are not quoted.
func readPlan(r io.Reader) ([]group, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("cannot read the plan: %w", err)
	}
	var groups []group
	for line := range strings.Lines(string(b)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, found := strings.Cut(line, ":")
		args := strings.Fields(rest)
		if !found || len(args) == 0 {
			return nil, fmt.Errorf("cannot read the plan: %q is not of the form \"name: arguments of go test\"", line)
		}
		g := group{name: name, args: args}
		for _, a := range args {
			if !isPackage(a) {
				g.flags = append(g.flags, a)
			}
		}
		groups = append(groups, g)
	}
	if len(groups) == 0 {
		return nil, fmt.Errorf("cannot read the plan: it has no group")
	}
	return groups, nil
}

// isPackage reports whether an argument of go test names packages. A plan spells flags
// -name=value, so that every other argument is a package.
func isPackage(arg string) bool { return !strings.HasPrefix(arg, "-") }
