package tuning

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
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
			all := liveSearch(t, o, Options{Case: example.target, Strategy: "exhaustive", Journal: filepath.Join(o.Dir, "tuning", "all.jsonl")})
			quarter := all.Header.Space.Points / 4
			found := liveSearch(t, o, Options{Case: example.target, Evals: quarter, Journal: filepath.Join(o.Dir, "tuning", "journal.jsonl")})
			best, chosen, usual := liveFinal(t, o, example.target, all), liveFinal(t, o, example.target, found), found.Default.Point
			ratio, spread := inTurns(t, o, example.target, chosen, best)
			gain, _ := inTurns(t, o, example.target, usual, chosen)
			labRow(t, "tune-live", fmt.Sprintf("%s, %s | %d in %.0f s | %d in %.0f s | %s | %s | %+.1f %% | %.1f %% | %.2f times",
				example.folder, example.target, all.Header.Space.Points, all.Seconds, len(found.Evaluations), found.Seconds, inWords(chosen), inWords(best), 100*(ratio-1), 100*spread, gain))
			if ratio > 1.03 {
				t.Errorf("the tuner's choice takes %.3f of the time of the exhaustive one's", ratio)
			}
		})
	}
}

// Live: half a minute is enough for a useful answer, and no more is taken; nor is it of five
// minutes, in a space that is too large for them. PAWL_LAB_BUDGET is another time, such as 20m.
func TestTuneLiveBudget(t *testing.T) {
	if os.Getenv("PAWL_LAB") == "" {
		t.Skip("set PAWL_LAB: it measures for minutes")
	}
	budgets := []string{"30s", "5m"}
	if text := os.Getenv("PAWL_LAB_BUDGET"); text != "" {
		budgets = []string{text}
	}
	for _, text := range budgets {
		t.Run(text, func(t *testing.T) {
			budget, err := time.ParseDuration(text)
			if err != nil {
				t.Fatal(err)
			}
			liveBudget(t, budget)
		})
	}
}

func liveBudget(t *testing.T, budget time.Duration) {
	t.Helper()
	o := liveExample(t, "matmul-c")
	if budget > time.Minute {
		o.Suite = largerSpace(t, o.Dir)
	}
	began := time.Now()
	found := liveSearch(t, o, Options{Case: "matmul/N256", Budget: budget})
	took := time.Since(began)
	if found.End != EndBudget {
		t.Errorf("ended by %s after %d of %d points: the budget was no limit", found.End, len(found.Evaluations), found.Header.Space.Points)
	}
	chosen := liveFinal(t, o, "matmul/N256", found)
	gain, spread := inTurns(t, o, "matmul/N256", found.Default.Point, chosen)
	labRow(t, "tune-budget", fmt.Sprintf("%v | %d | %.1f s (%+.1f %%) | %d | %.2f times | %.1f %%",
		budget, found.Header.Space.Points, took.Seconds(), 100*(took.Seconds()/budget.Seconds()-1), len(found.Evaluations), gain, 100*spread))
	if took.Seconds() > 1.02*budget.Seconds()+1 { // cleaning up takes its time on a busy machine
		t.Errorf("a budget of %v took %v", budget, took)
	}
	if gain < 1 {
		t.Errorf("what was found in %v is slower than the default: %.3f", budget, gain)
	}
}

// largerSpace has block sizes in between: more points than minutes are enough for.
func largerSpace(t *testing.T, dir string) *suite.Suite {
	t.Helper()
	path := filepath.Join(dir, "pawl.yaml")
	yaml, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(
		"[8, 16, 32, 64, 128]", "[8, 12, 16, 20, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128]",
		"[16, 32, 64, 128, 256]", "[16, 24, 32, 40, 48, 64, 80, 96, 112, 128, 160, 192, 256]",
		"[16, 32, 64]", "[16, 24, 32, 48, 64]",
	).Replace(string(yaml))
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	s, err := suite.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// labRow says a row of a table of docs/lab, and where PAWL_LAB is a folder adds it to a file there.
func labRow(t *testing.T, table, row string) {
	t.Helper()
	fmt.Println("|", row, "|")
	folder := os.Getenv("PAWL_LAB")
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return
	}
	f, err := os.OpenFile(filepath.Join(folder, table+".md"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = fmt.Fprintln(f, "|", row, "|")
	}
	if err == nil {
		err = f.Close()
	}
	if err != nil {
		t.Error(err)
	}
}

// liveExample is a copy of an example in a repository of its own, with nothing in any cache.
func liveExample(t *testing.T, folder string) runner.Options {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir := filepath.Join(t.TempDir(), folder)
	if err := os.CopyFS(dir, os.DirFS(filepath.Join("..", "..", "..", "examples", folder))); err != nil {
		t.Fatal(err)
	}
	header, err := filepath.Abs(filepath.Join("..", "..", "..", "sdk", "cpp"))
	if err != nil {
		t.Fatal(err)
	}
	yaml, err := os.ReadFile(filepath.Join(dir, "pawl.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(yaml), "../../sdk/cpp", header)
	text = strings.ReplaceAll(text, "make harness", "make harness PAWL_SDK="+header)
	text = strings.ReplaceAll(text, "flags: ", "flags: PAWL_SDK="+header+" ")
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
	return runner.Options{Suite: s, Dir: dir, Wait: time.Hour, Seed: 11, LockDir: t.TempDir(), Out: filepath.Join(dir, "results", "current.json")}
}

func liveSearch(t *testing.T, o runner.Options, what Options) *tune.Report {
	t.Helper()
	o.Emit = func(e runner.Event) {
		if x, ok := e.(Evaluated); ok && x.Done%20 == 0 {
			t.Logf("%d of %d in %v: best %.0f ns %v, %d failed", x.Done, x.Of, x.Elapsed.Round(time.Second), x.Best.Value, x.Best.Point, x.Failed)
		}
	}
	found, err := Search(t.Context(), o, what)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// liveFinal is the best of a search after its five best were measured again in turns, which is
// what a proof does.
func liveFinal(t *testing.T, o runner.Options, target string, found *tune.Report) map[string]any {
	t.Helper()
	points := []map[string]any{}
	for _, e := range finalists(found, 5) {
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

// inWords is a point as people write it: BLOCK_K=16 BLOCK_M=64.
func inWords(point map[string]any) string {
	return strings.TrimSpace(strings.ReplaceAll(tune.Key(point), `"`, ""))
}

// inTurns is the median ratio of the times of two points over rounds, and its spread.
func inTurns(t *testing.T, o runner.Options, target string, a, b map[string]any) (ratio, spread float64) {
	t.Helper()
	if tune.Key(a) == tune.Key(b) {
		return 1, 0
	}
	times := turns(t, o, target, []map[string]any{a, b}, 24)
	ratios := make([]float64, len(times[0]))
	for i := range ratios {
		ratios[i] = times[0][i] / times[1][i]
	}
	return stats.Median(ratios), stats.RobustSD(ratios)
}

// turns measures points round by round, each in a fresh process beside the default, in random order: the medians.
func turns(t *testing.T, o runner.Options, target string, points []map[string]any, rounds int) [][]float64 {
	t.Helper()
	s := &tuner{Setup: runner.NewSetup(o), startedAt: time.Now()}
	s.Options = Options{Case: target, Strategy: "random", Jobs: len(points), Journal: filepath.Join(t.TempDir(), "turns.jsonl")}
	s.Out = s.Journal
	if err := s.chooseCase(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	}()
	if err := s.prepareSearch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if point, ok := s.space.Default(); ok {
		usual := s.prepare(t.Context(), point)
		if err := errors.Join(usual.err, s.openBeside(t.Context(), usual)); err != nil || usual.e.Status != "" {
			t.Fatal(err, usual.e.Why)
		}
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
