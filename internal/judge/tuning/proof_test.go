package tuning

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/tune"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// proven searches everything and proves what was found.
func proven(t *testing.T, o runner.Options, what ProofOptions) (*tune.Report, *tune.Proof) {
	t.Helper()
	found, err := Search(t.Context(), o, Options{Case: "double/N256", Strategy: "exhaustive", Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	proof, err := Prove(t.Context(), o, found, what)
	if err != nil {
		t.Fatal(err)
	}
	return found, proof
}

// The winner is measured beside the defaults in rounds of one run, on every config, after a look
// at its results; and nothing is left in the user's folder but what was built with the defaults.
func TestProve(t *testing.T) {
	o, _ := workbench(t, strings.Replace(tunedYAML, "samples: 14", "samples: 14, rounds: [4, 8]", 1))
	found, p := proven(t, o, ProofOptions{Fuzz: time.Minute})
	if p.Answer != tune.Faster || p.Winner != 0 || len(p.Finalists) == 0 || len(p.SlowerCases) != 0 {
		t.Fatalf("%+v", p)
	}
	best := p.Finalists[0]
	if best.N != found.Best.N || best.ResultError != "" || best.Checked == 0 || len(best.Cases) != 2 {
		t.Errorf("winner %+v", best)
	}
	want := tunedTime(32, 1) / tunedTime(64, 4)
	for _, c := range best.Cases {
		if c.Verdict != ratchet.Improvement || c.Speedup < 0.97*want || c.Speedup > 1.03*want || !(c.Low <= c.Speedup && c.Speedup <= c.High) {
			t.Errorf("%s: %+v, want a speed-up of %.2f", c.Case, c, want)
		}
	}
	for _, c := range p.Choices {
		if c.Finalist != 0 || !c.Significant {
			t.Errorf("choice %+v, want the winner", c)
		}
	}
	run, err := measure.Load(p.Record)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range run.Rounds {
		if len(r.Sides) != 1+len(p.Finalists) {
			t.Errorf("round %d has %d sides: not all were measured together", r.Index, len(r.Sides))
		}
	}
	if p.Rounds < 4 || p.Seconds <= 0 {
		t.Errorf("%d rounds in %.1f s", p.Rounds, p.Seconds)
	}
	if built, _ := os.ReadFile(filepath.Join(o.Dir, "built.txt")); string(built) != "32 1\n" {
		t.Errorf("in the user's folder is a build of %q, want the defaults", built)
	}
	if _, err := os.Stat(filepath.Join(o.Dir, "tuning", ".proof")); err == nil {
		t.Error("copies of the sources were left behind")
	}
}

// A winner that is slower on another config is shown as such, and that config keeps the defaults.
func TestProveLosesElsewhere(t *testing.T) {
	t.Setenv(elsewhere, "loses")
	o, _ := workbench(t, tunedYAML)
	_, p := proven(t, o, ProofOptions{})
	if p.Answer != tune.Faster || len(p.SlowerCases) != 1 || p.SlowerCases[0] != "double/N64" || !strings.Contains(p.Sentence, "slower") {
		t.Errorf("%s; loses %v: %s", p.Answer, p.SlowerCases, p.Sentence)
	}
	if c := p.Choices; len(c) != 2 || c[0].Finalist != p.Winner || c[1].Finalist != -1 || c[1].Point["BLOCK"] != 32.0 || c[0].Params["N"] != 256.0 {
		t.Errorf("choices %+v", p.Choices)
	}
}

// A finalist that crashes on another config is not chosen, and does not hide the next.
func TestProveCrashes(t *testing.T) {
	t.Setenv(elsewhere, "crashes")
	o, _ := workbench(t, tunedYAML)
	found, err := Search(t.Context(), o, Options{Case: "double/N256", Strategy: "exhaustive", Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	for i := range found.Evaluations { // so that there is a next one
		found.Evaluations[i].Lost = false
	}
	p, err := Prove(t.Context(), o, found, ProofOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Finalists) < 2 || p.Finalists[0].ResultError == "" || p.Winner != 1 || p.Answer != tune.Faster {
		t.Errorf("%+v", p)
	}
}

// Where the search found nothing there is nothing to measure, and the defaults are the answer.
func TestProveNothing(t *testing.T) {
	o, _ := workbench(t, tunedYAML)
	found, err := Search(t.Context(), o, Options{Case: "double/N256", Evals: 1})
	if err != nil {
		t.Fatal(err)
	}
	p, err := Prove(t.Context(), o, found, ProofOptions{})
	if err != nil || p.Answer != tune.Same || p.Winner != -1 || p.Record != "" || len(p.Choices) != 2 {
		t.Errorf("%+v, %v", p, err)
	}
}

// A budget that allows only one round gives no answer, and says so.
func TestProveShort(t *testing.T) {
	o, _ := workbench(t, tunedYAML)
	_, p := proven(t, o, ProofOptions{Budget: time.Nanosecond})
	if p.Answer != tune.Inconclusive || p.Winner != -1 || p.Rounds != 1 {
		t.Errorf("%+v", p)
	}
}

// An interrupted proof ends with the interrupt.
func TestProveInterrupted(t *testing.T) {
	o, _ := workbench(t, tunedYAML)
	found, err := Search(t.Context(), o, Options{Case: "double/N256", Strategy: "exhaustive", Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	o.Emit = func(e runner.Event) {
		if _, ok := e.(runner.Ready); ok {
			cancel(stopped)
		}
	}
	if p, err := Prove(ctx, o, found, ProofOptions{}); err == nil || ctx.Err() == nil || p.Answer == tune.Faster {
		t.Errorf("%+v, %v", p, err)
	}
}

// The baseline's commit is measured in the same rounds, with the defaults that it had.
func TestProveAgainstBaseline(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir, aside := t.TempDir(), t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "pawl.yaml")
	write := func(text string) {
		text = strings.NewReplacer("%[1]s", self, "%[2]s", filepath.Join(aside, "count"), "    test ! -f object.txt || exit 7\n", "").Replace(text)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(tunedYAML)
	gitRepository(t, dir)
	repo, err := build.Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	commit, _, err := repo.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	write(strings.Replace(tunedYAML, "default: 32", "default: 16", 1))
	s, err := suite.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	o := runner.Options{
		Suite: s, Dir: dir, Path: path, LockDir: aside, Wait: time.Minute, Seed: 1, Out: filepath.Join(dir, "results", "current.json"),
		Baseline: func(gpu.Identity) string { return commit },
	}
	_, p := proven(t, o, ProofOptions{})
	best := p.Finalists[0]
	if p.Baseline != commit || best.Baseline == nil {
		t.Fatalf("the baseline is %q, compared: %+v", p.Baseline, best.Baseline)
	}
	for got, want := range map[float64]float64{
		best.Baseline.Speedup: tunedTime(32, 1) / tunedTime(64, 4),
		best.Cases[0].Speedup: tunedTime(16, 1) / tunedTime(64, 4),
	} {
		if got < 0.97*want || got > 1.03*want {
			t.Errorf("a speed-up of %.2f, want %.2f", got, want)
		}
	}
}
