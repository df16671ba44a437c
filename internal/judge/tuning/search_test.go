package tuning

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/tune"
)

const tunedYAML = `version: 1
device: {kind: cpu}
build:
  command: |
    test ${BLOCK}-${UNROLL} != 32-8 || { echo "k.c:3:5: error: too much unrolled" >&2; exit 1; }
    test ! -f object.txt || exit 7
    echo ${BLOCK} ${UNROLL} >built.txt; echo made >object.txt; echo build >>%[2]s
  outputs: [built.txt]
harness: {command: "exec %[1]s", timeout: 2m, env: {PAWL_TEST_TUNE: play, GORACE: atexit_sleep_ms=0}}
measure: {samples: 14}
benchmarks:
  double:
    matrix: {N: [256, 64]}
    arguments: {x: {in: f32, shape: [N]}, y: {out: f32, shape: [N]}}
    check: {expression: {y: 2 * x}, inputs: [normal]}
    tune:
      parameters:
        BLOCK: {values: [16, 32, 64, 128, 256], default: 32}
        UNROLL: [1, 2, 4, 8]
      constraints: [BLOCK * UNROLL <= 8 * N]
`

// workbench is a suite in a folder of its own.
func workbench(t *testing.T, yaml string) (runner.Options, string) {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir, aside := t.TempDir(), t.TempDir()
	o, count, err := workbenchAt(dir, aside, yaml)
	if err != nil {
		t.Fatal(err)
	}
	return o, count
}

func workbenchAt(dir, aside, yaml string) (runner.Options, string, error) {
	self, err := os.Executable()
	if err != nil {
		return runner.Options{}, "", err
	}
	count := filepath.Join(aside, "count")
	s, err := suite.Parse("pawl.yaml", fmt.Appendf(nil, yaml, self, count))
	return runner.Options{Suite: s, Dir: dir, LockDir: aside, Wait: time.Minute, Seed: 5, Out: filepath.Join(dir, "results", "current.json")}, count, err
}

func statuses(list []tune.Evaluation) map[tune.Status]int {
	n := map[tune.Status]int{}
	for _, e := range list {
		n[e.Status]++
	}
	return n
}

// Every point of the space is built apart, looked at and measured once; what fails is told as
// what it is, and the best is the best.
func TestTuneExhaustive(t *testing.T) {
	t.Setenv(hangs, "yes")
	o, count := workbench(t, strings.Replace(tunedYAML, "timeout: 2m", "timeout: 30s", 1)) // also limits the hello
	events := 0
	o.Emit = func(e runner.Event) {
		if x, ok := e.(Evaluated); ok {
			if events++; x.Done != events || x.Of != 20 || x.Best.Value == 0 {
				t.Errorf("event %d: %+v", events, x)
			}
		}
	}
	found, err := Search(t.Context(), o, Options{Case: "double/N256", Strategy: "exhaustive", Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	if found.End != EndSpace || len(found.Evaluations) != 20 || events != 20 || found.Unchecked != "" || found.Header.Space.Points != 20 {
		t.Errorf("ended by %s with %d of %d evaluations, %d events, unchecked %q", found.End, len(found.Evaluations), found.Header.Space.Points, events, found.Unchecked)
	}
	want := map[string]tune.Status{
		"BLOCK=32 UNROLL=8": tune.CompileError, "BLOCK=256 UNROLL=1": tune.RuntimeError,
		"BLOCK=256 UNROLL=2": tune.Timeout, "BLOCK=128 UNROLL=8": tune.Wrong,
	}
	for _, e := range found.Evaluations {
		name := fmt.Sprintf("BLOCK=%v UNROLL=%v", e.Point["BLOCK"], e.Point["UNROLL"])
		status := tune.OK
		if s, ok := want[name]; ok {
			status = s
		}
		if e.Status != status || (e.Why == "") != (status == tune.OK) || e.Build <= 0 || (status != tune.CompileError) != (e.Check > 0) {
			t.Errorf("%s: %+v, want %s", name, e, status)
		}
		if e.Status == tune.CompileError && !strings.Contains(e.Why, "too much unrolled") {
			t.Errorf("%s: %s", name, e.Why)
		}
	}
	if b := found.Best.Point; b["BLOCK"] != 64.0 || b["UNROLL"] != 4.0 || found.Default.Point["BLOCK"] != 32.0 || found.Default.Point["UNROLL"] != 1.0 {
		t.Errorf("best %v, default %v", b, found.Default.Point)
	}
	if best := len(found.Best.Samples); best != 28 {
		t.Errorf("the best was measured %d times, want 14 in each of two processes", best)
	}
	lost := 0
	for _, e := range found.Evaluations {
		if e.Lost && len(e.Samples) < 14 {
			lost++
		}
	}
	if lost < 4 {
		t.Errorf("%d of 16 lost their race before all samples were taken", lost)
	}
	if f := finalists(found, 3); len(f) == 0 || f[0].N != found.Best.N {
		t.Errorf("finalists %+v", f)
	}
	if made, _ := os.ReadFile(count); strings.Count(string(made), "build") != 19 {
		t.Errorf("%d builds ran, want one for each point that compiles", strings.Count(string(made), "build"))
	}
	for _, left := range []string{"built.txt", "object.txt", "tuning/.rooms"} {
		if _, err := os.Stat(filepath.Join(o.Dir, left)); err == nil {
			t.Errorf("%s was left in the suite's folder", left)
		}
	}
	_, kept, err := tune.Load(found.Journal)
	if err != nil || len(kept) != 20 {
		t.Errorf("the journal has %d evaluations: %v", len(kept), err)
	}
}

// An interrupted search goes on where it was, and evaluates nothing twice.
func TestTuneResumes(t *testing.T) {
	o, count := workbench(t, tunedYAML)
	ctx, stop := context.WithCancel(t.Context())
	n := 0
	o.Emit = func(e runner.Event) {
		if _, ok := e.(Evaluated); ok {
			if n++; n == 6 {
				stop()
			}
		}
	}
	what := Options{Case: "double/N256", Strategy: "random", Jobs: 2, Evals: 12}
	first, err := Search(ctx, o, what)
	// A point whose build had failed by then is known, and kept too.
	if !errors.Is(err, context.Canceled) || first == nil || first.End != EndInterrupted || len(first.Evaluations) < 6 || len(first.Evaluations) > 8 {
		t.Fatalf("%+v, %v", first, err)
	}
	what.Resume = true
	second, err := Search(t.Context(), o, what)
	if err != nil {
		t.Fatal(err)
	}
	if second.Resumed != len(first.Evaluations) || len(second.Evaluations) != 12 || second.End != EndEvaluations {
		t.Errorf("resumed %d, %d in all, ended by %s", second.Resumed, len(second.Evaluations), second.End)
	}
	seen := map[string]bool{}
	for _, e := range second.Evaluations {
		if seen[tune.Key(e.Point)] {
			t.Errorf("%v twice", e.Point)
		}
		seen[tune.Key(e.Point)] = true
	}
	if made, _ := os.ReadFile(count); strings.Count(string(made), "build") > 15 {
		t.Errorf("%d builds for 12 points", strings.Count(string(made), "build"))
	}
	what.Case = "double/N64"
	if _, err := Search(t.Context(), o, what); err == nil || !strings.Contains(err.Error(), "its case is double/N256") {
		t.Errorf("another case went on with the journal: %v", err)
	}
}

// A search keeps its budget: it gives up what is running when the budget ends.
// TestTuneLiveBudget measures how long that takes.
func TestTuneBudget(t *testing.T) {
	yaml := strings.ReplaceAll(tunedYAML, "echo build >>", "case ${BLOCK}-${UNROLL} in 32-1);; *) echo >%[2]s.begun; sleep 1000;; esac; echo build >>")
	o, count := workbench(t, yaml)
	ctx, end := context.WithCancelCause(t.Context())
	defer end(nil)
	type result struct {
		found *tune.Report
		err   error
	}
	evaluated, ended := make(chan struct{}), make(chan result, 1)
	once := sync.OnceFunc(func() { close(evaluated) })
	o.Emit = func(e runner.Event) {
		if _, ok := e.(Evaluated); ok {
			once()
		}
	}
	go func() {
		found, err := Search(ctx, o, Options{Case: "double/N256", Strategy: "random", Budget: time.Hour, Jobs: 2})
		ended <- result{found, err}
	}()
	await.Receive(t, "the evaluation of the default", evaluated)
	await.True(t, "the build of a second point", func() bool { _, err := os.Stat(count + ".begun"); return err == nil })
	end(errBudget) // as its deadline does
	if r := await.Receive(t, "the search to end", ended); r.err != nil || r.found.End != EndBudget || len(r.found.Evaluations) != 1 {
		t.Errorf("%+v, %v", r.found, r.err)
	}
	if _, err := Search(t.Context(), o, Options{Case: "double/N256", Strategy: "random", Budget: time.Nanosecond}); err == nil {
		t.Error("a budget without time for the default gave an answer")
	}
}

// Tunables that only the harness is given need no build of their own.
func TestTuneWithoutBuilds(t *testing.T) {
	yaml := strings.Replace(tunedYAML, "UNROLL: [1, 2, 4, 8]", "UNROLL: [1]\n        fast: [false, true]", 1)
	yaml = strings.Replace(yaml, "{values: [16, 32, 64, 128, 256], default: 32}", "[32]", 1)
	yaml = strings.ReplaceAll(strings.ReplaceAll(yaml, "${BLOCK}", "32"), "${UNROLL}", "1")
	yaml = strings.Replace(yaml, "test ! -f object.txt || exit 7", "", 1)
	o, count := workbench(t, yaml)
	found, err := Search(t.Context(), o, Options{Case: "double/N256", Strategy: "exhaustive"})
	if err != nil || len(found.Evaluations) != 2 || statuses(found.Evaluations)[tune.OK] != 2 {
		t.Fatalf("%+v, %v", found, err)
	}
	if made, _ := os.ReadFile(count); strings.Count(string(made), "build") > 2 {
		t.Errorf("%d builds of one command", strings.Count(string(made), "build"))
	}
}

// A search starts from what an earlier one found; the journal of another space is refused.
func TestTuneWarmStart(t *testing.T) {
	o, _ := workbench(t, tunedYAML)
	old, err := Search(t.Context(), o, Options{Case: "double/N256", Strategy: "exhaustive", Journal: filepath.Join(o.Dir, "tuning", "old.jsonl")})
	if err != nil {
		t.Fatal(err)
	}
	found, err := Search(t.Context(), o, Options{Case: "double/N256", Evals: 4, WarmStart: []string{old.Journal}})
	if err != nil {
		t.Fatal(err)
	}
	if b := found.Best.Point; b["BLOCK"] != 64.0 || b["UNROLL"] != 4.0 || len(found.Evaluations) != 4 {
		t.Errorf("with all of the space known, the best of %d is %v", len(found.Evaluations), b)
	}
	other, _ := workbench(t, strings.ReplaceAll(tunedYAML, "UNROLL", "DEPTH"))
	if _, err := Search(t.Context(), other, Options{Case: "double/N256", WarmStart: []string{old.Journal}}); err == nil || !strings.Contains(err.Error(), "none of its points is in this space") {
		t.Errorf("a journal of another space: %v", err)
	}
}

func TestTuneRefuses(t *testing.T) {
	o, _ := workbench(t, tunedYAML)
	for want, what := range map[string]Options{
		"no case matches \"other\"; these can be tuned: double/N256, double/N64": {Case: "other"},
		"2 cases match \"double\", but only one can be tuned at a time":          {Case: "double"},
		"unknown strategy \"luck\"":                                              {Case: "double/N64", Strategy: "luck"},
	} {
		_, err := Search(t.Context(), o, what)
		if e, ok := errors.AsType[*runner.UsageError](err); !ok || !strings.Contains(e.Error(), want) {
			t.Errorf("%+v: %v, want %s", what, err, want)
		}
	}
	broken, _ := workbench(t, strings.Replace(tunedYAML, "!= 32-8", "!= 32-1", 1))
	_, err := Search(t.Context(), broken, Options{Case: "double/N256", Strategy: "random"})
	if e, ok := errors.AsType[*trial.SideError](err); !ok || !strings.Contains(e.Error(), "its defaults do not work (compile_error)") {
		t.Errorf("a default that does not compile: %v", err)
	}
	wrong, _ := workbench(t, strings.Replace(tunedYAML, "y: 2 * x", "y: 3 * x", 1))
	_, err = Search(t.Context(), wrong, Options{Case: "double/N256", Strategy: "random"})
	if e, ok := errors.AsType[*trial.SideError](err); !ok || !strings.Contains(e.Error(), "its defaults do not work (wrong)") {
		t.Errorf("a default that is wrong: %v", err)
	}
	bare, _, _ := strings.Cut(tunedYAML, "    tune:")
	none, _ := workbench(t, strings.ReplaceAll(bare, "${", "$${"))
	if _, err := Search(t.Context(), none, Options{Case: "double/N256"}); err == nil || !strings.Contains(err.Error(), "add tune to one") {
		t.Errorf("nothing to tune: %v", err)
	}
}
