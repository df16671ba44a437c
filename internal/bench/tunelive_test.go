package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/suite"
	"github.com/goatnote-inc/pawl/internal/tune"
	"github.com/goatnote-inc/pawl/stats"
)

// Live: every point of an example's space is measured once, then the tuner gets a quarter of
// so many evaluations. Its choice is measured against that of the exhaustive search with
// processes in turns, because on a shared machine numbers of different minutes say nothing.
func TestTuneLive(t *testing.T) {
	if os.Getenv("PAWL_LAB") == "" {
		t.Skip("set PAWL_LAB: it measures for minutes")
	}
	for _, example := range []struct{ folder, target string }{
		{"matmul-c", "matmul/N256"}, {"reduce-opencl", "reduce/N1048576"},
	} {
		t.Run(example.folder, func(t *testing.T) {
			o := liveExample(t, example.folder)
			all := liveSearch(t, o, TuneOptions{Case: example.target, Strategy: "exhaustive", Journal: filepath.Join(o.Dir, "tuning", "all.jsonl")})
			quarter := all.Space.Len() / 4
			found := liveSearch(t, o, TuneOptions{Case: example.target, Evals: quarter, Journal: filepath.Join(o.Dir, "tuning", "journal.jsonl")})
			best, chosen, usual := liveFinal(t, o, example.target, all), liveFinal(t, o, example.target, found), found.Default.Point
			ratio, spread := inTurns(t, o, example.target, chosen, best)
			gain, _ := inTurns(t, o, example.target, usual, chosen)
			fmt.Printf("%s %s: %d points in %.0f s; exhaustive %v; the tuner's after %d evaluations in %.0f s %v: %+.1f %% (rounds %.1f %%); the default takes %.2f times as long\n",
				example.folder, example.target, all.Space.Len(), all.Seconds, best, len(found.Evaluations), found.Seconds, chosen, 100*(ratio-1), 100*spread, gain)
			if ratio > 1.03 {
				t.Errorf("the tuner's choice takes %.3f of the time of the exhaustive one's", ratio)
			}
		})
	}
}

// Live: half a minute is enough for a useful answer, and no more is taken. PAWL_LAB_BUDGET is
// another time, such as 20m.
func TestTuneLiveBudget(t *testing.T) {
	if os.Getenv("PAWL_LAB") == "" {
		t.Skip("set PAWL_LAB: it measures for minutes")
	}
	budget := 30 * time.Second
	if text := os.Getenv("PAWL_LAB_BUDGET"); text != "" {
		var err error
		if budget, err = time.ParseDuration(text); err != nil {
			t.Fatal(err)
		}
	}
	o := liveExample(t, "matmul-c")
	began := time.Now()
	found := liveSearch(t, o, TuneOptions{Case: "matmul/N256", Budget: budget})
	took := time.Since(began)
	chosen := liveFinal(t, o, "matmul/N256", found)
	gain, spread := inTurns(t, o, "matmul/N256", found.Default.Point, chosen)
	fmt.Printf("a budget of %v took %.1f s (%+.1f %%): %d evaluations, %v; the default takes %.2f times as long (rounds %.1f %%)\n",
		budget, took.Seconds(), 100*(took.Seconds()/budget.Seconds()-1), len(found.Evaluations), chosen, gain, 100*spread)
	if took.Seconds() > 1.02*budget.Seconds()+1 { // cleaning up takes its time on a busy machine
		t.Errorf("a budget of %v took %v", budget, took)
	}
	if gain < 1 {
		t.Errorf("what was found in %v is slower than the default: %.3f", budget, gain)
	}
}

// liveExample is a copy of an example in a repository of its own. Its harness, which no point
// changes, is compiled once.
func liveExample(t *testing.T, folder string) Options {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := filepath.Join(t.TempDir(), folder)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "examples", folder))); err != nil {
		t.Fatal(err)
	}
	header, err := filepath.Abs(filepath.Join("..", "..", "sdk", "cpp"))
	if err != nil {
		t.Fatal(err)
	}
	if folder == "matmul-c" {
		path := filepath.Join(dir, "Makefile")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		object := filepath.Join(t.TempDir(), "harness.o")
		quick := strings.Replace(string(text), "-o $@ harness.c matmul.c", "-o $@ "+object+" matmul.c", 1)
		if err := os.WriteFile(path, []byte(quick), 0o644); err != nil || quick == string(text) {
			t.Fatal("the Makefile has changed", err)
		}
		if out, err := exec.CommandContext(t.Context(), "cc", "-O3", "-march=native", "-I"+header, "-c", "-o", object, filepath.Join(dir, "harness.c")).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	yaml, err := os.ReadFile(filepath.Join(dir, "pawl.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(yaml), "../../sdk/cpp", header)
	text = strings.ReplaceAll(text, "make harness", "make harness PAWL_SDK="+header)
	text = strings.ReplaceAll(text, "make plain", "make plain PAWL_SDK="+header)
	if err := os.WriteFile(filepath.Join(dir, "pawl.yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, made := range []string{"results", "harness", "plain", "tuning"} {
		_ = os.RemoveAll(filepath.Join(dir, made))
	}
	gitRepository(t, dir)
	s, err := suite.Load(filepath.Join(dir, "pawl.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return Options{Suite: s, Dir: dir, Wait: time.Hour, Seed: 11, LockDir: t.TempDir(), Out: filepath.Join(dir, "results", "current.json")}
}

func liveSearch(t *testing.T, o Options, what TuneOptions) *Tuning {
	t.Helper()
	o.Emit = func(e Event) {
		if x, ok := e.(TuneEvaluated); ok && x.Done%20 == 0 {
			t.Logf("%d of %d in %v: best %.0f ns %v, %d failed", x.Done, x.Of, x.Elapsed.Round(time.Second), x.Best.Value, x.Best.Point, x.Failed)
		}
	}
	found, err := Tune(t.Context(), o, what)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// liveFinal is the best of a search after its five best were measured again in turns, which is
// what a proof does.
func liveFinal(t *testing.T, o Options, target string, found *Tuning) map[string]any {
	t.Helper()
	points := []map[string]any{}
	for _, e := range found.Finalists(5) {
		points = append(points, e.Point)
	}
	if len(points) == 0 {
		return found.Default.Point
	}
	times := turns(t, o, target, points, 8)
	best := 0
	for i := range points {
		if stats.Median(times[i]) < stats.Median(times[best]) {
			best = i
		}
	}
	return points[best]
}

// inTurns is the median ratio of the times of two points over rounds, and its spread.
func inTurns(t *testing.T, o Options, target string, a, b map[string]any) (ratio, spread float64) {
	t.Helper()
	if tune.Key(a) == tune.Key(b) {
		return 1, 0
	}
	times := turns(t, o, target, []map[string]any{a, b}, 24)
	ratios := make([]float64, len(times[0]))
	for i := range ratios {
		ratios[i] = times[0][i] / times[1][i]
	}
	return stats.Median(ratios), 1.4826 * stats.MAD(ratios)
}

// turns measures points round by round, each in a fresh process, in random order: the medians.
func turns(t *testing.T, o Options, target string, points []map[string]any, rounds int) [][]float64 {
	t.Helper()
	o.Emit, o.Now = func(Event) {}, time.Now
	s := &tuner{run: &run{Options: o}, began: time.Now()}
	s.TuneOptions = TuneOptions{Case: target, Strategy: "random", Jobs: len(points), Journal: filepath.Join(t.TempDir(), "turns.jsonl")}
	s.Out = s.Journal
	if err := s.chooseCase(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.cleanUp(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	if err := s.begin(t.Context()); err != nil {
		t.Fatal(err)
	}
	var ready []*attempt
	for _, p := range points {
		i, ok := s.point(p)
		if !ok {
			t.Fatalf("%v is no point", p)
		}
		a := s.prepare(t.Context(), i)
		if a.err != nil || a.e.Status != "" {
			t.Fatal(a.err, a.e.Why)
		}
		ready = append(ready, a)
	}
	g := rand.New(rand.NewPCG(1, 2))
	times := make([][]float64, len(points))
	for range rounds {
		for _, i := range g.Perm(len(points)) {
			samples, _, err := s.process(t.Context(), ready[i])
			if err != nil {
				t.Fatal(err)
			}
			times[i] = append(times[i], stats.Median(samples))
		}
	}
	return times
}
