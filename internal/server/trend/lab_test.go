package trend_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/server/trend"
)

// The constants of the finder were chosen on histories of one seed. The lab reports on those of another.
const (
	choosing  = 1
	reporting = 20261118
)

// measure scores finders on n histories that a function makes.
func measure(n int, seed, stream uint64, finders []finder, history func(*rand.Rand) labelled) []score {
	r := rand.New(rand.NewPCG(seed, stream))
	scores := make([]score, len(finders))
	for range n {
		l := history(r)
		for i, f := range finders {
			scores[i].add(l, f.read(l.values))
		}
	}
	return scores
}

// measureKinds scores finders on n histories of every kind, and all of them together.
func measureKinds(n int, seed uint64, finders []finder) map[string][]score {
	all := map[string][]score{"all": make([]score, len(finders))}
	for k, kind := range kinds {
		all[kind] = measure(n, seed, uint64(k), finders, func(r *rand.Rand) labelled { return newLabelled(kind, r) })
		for i, s := range all[kind] {
			all["all"][i].sum(s)
		}
	}
	return all
}

// measureQuiet scores finders on n histories without a change, of 400 points, whose neighbors depend on each
// other.
func measureQuiet(n int, seed uint64, finders []finder) map[string][]score {
	all := map[string][]score{}
	for k, kind := range quiets {
		all[kind] = measure(n, seed, uint64(100+k), finders, func(r *rand.Rand) labelled {
			l := labelled{noise: []float64{0.005, 0.01, 0.02}[r.IntN(3)]}
			l.values = l.over(disturbance(kind, 400, r))
			return l
		})
	}
	return all
}

var quiets = []string{"normal", "AR 0.3", "AR 0.5", "AR 0.7", "wander", "sticky mode"}

func scoreTable(kinds []string, all map[string][]score) string {
	var b strings.Builder
	b.WriteString("| history | finder | reported | precision | due | recall | points until reported | vanished |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, kind := range kinds {
		for i, s := range all[kind] {
			fmt.Fprintf(&b, "| %s | %s | %d | %.3f | %d | %.3f | %d | %.1f %% |\n", kind, finders[i].name, s.told, s.precision(), s.due, s.recall(), s.wait(), 100*float64(s.gone)/max(1, float64(s.told)))
		}
	}
	return b.String()
}

func quietTable(all map[string][]score) string {
	var b strings.Builder
	b.WriteString("| noise | histories")
	for i := range all[quiets[0]] {
		fmt.Fprintf(&b, " | %s", finders[i].name)
	}
	b.WriteString(" |\n|" + strings.Repeat(" --- |", 2+len(all[quiets[0]])) + "\n")
	for _, kind := range quiets {
		fmt.Fprintf(&b, "| %s | %d", kind, all[kind][0].series)
		for _, s := range all[kind] {
			fmt.Fprintf(&b, " | %.1f %%", 100*float64(s.alarmed)/float64(s.series))
		}
		b.WriteString(" |\n")
	}
	return b.String()
}

// write writes a table of the lab.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	t.Log("\n" + text)
	if dir == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// At the moment they are reported, at least nine of ten events are there, and steps and drifts of at least
// twice the noise are found; with PAWL_LAB, in more histories and beside other finders.
func TestPrecisionAndRecall(t *testing.T) {
	n, seed, with, dir := 40, uint64(choosing), finders[:1], os.Getenv("PAWL_LAB")
	if dir != "" {
		n, seed, with = 300, reporting, finders
	}
	all := measureKinds(n, seed, with)
	write(t, dir, "trend-generator.md", scoreTable(append(kinds, "all"), all))
	s := all["all"][0]
	if s.precision() < 0.9 || s.recall() < 0.86 || 20*s.gone > s.told {
		t.Errorf("precision %.3f, recall %.3f, %d of %d events vanished", s.precision(), s.recall(), s.gone, s.told)
	}
}

// A series without a change is hardly ever reported, however much its points depend on each other.
func TestQuietHistoriesStayQuiet(t *testing.T) {
	n, seed, with, dir := 100, uint64(choosing), finders[:1], os.Getenv("PAWL_LAB")
	if dir != "" {
		n, seed, with = 500, reporting, finders
	}
	all := measureQuiet(n, seed, with)
	write(t, dir, "trend-quiet.md", quietTable(all))
	if s := all["AR 0.5"][0]; float64(s.alarmed) > 0.02*float64(s.series) {
		t.Errorf("%d of %d quiet histories have an event", s.alarmed, s.series)
	}
}

// Steps planted in the noise of recorded histories are found, and little else.
func TestStepsInRecordedNoise(t *testing.T) {
	n, seed, with, dir := 40, uint64(choosing), finders[:1], os.Getenv("PAWL_LAB")
	if dir != "" {
		n, seed, with = 300, reporting, finders
	}
	var text strings.Builder
	text.WriteString("| history | finder | events reported, point by point | vanished later |\n| --- | --- | --- | --- |\n")
	var noises [][]float64
	sums := make([]score, len(with))
	for _, r := range histories(t) {
		for i, f := range with {
			var s score
			s.add(labelled{}, f.read(r.values))
			sums[i].sum(s)
			fmt.Fprintf(&text, "| %s | %s | %d | %d |\n", r.name, f.name, s.told, s.gone)
		}
		noises = append(noises, residuals(r))
	}
	for i, f := range with {
		fmt.Fprintf(&text, "| all | %s | %d | %d |\n", f.name, sums[i].told, sums[i].gone)
	}
	write(t, dir, "trend-recorded.md", text.String())
	if 20*sums[0].gone > sums[0].told {
		t.Errorf("of %d events %d vanished later", sums[0].told, sums[0].gone)
	}
	all := map[string][]score{"recorded noise": measure(n, seed, 200, with, func(r *rand.Rand) labelled {
		return plant(noises[r.IntN(len(noises))], r)
	})}
	write(t, dir, "trend-planted.md", scoreTable([]string{"recorded noise"}, all))
	if s := all["recorded noise"][0]; s.precision() < 0.8 || s.recall() < 0.8 {
		t.Errorf("in recorded noise: precision %.3f, recall %.3f", s.precision(), s.recall())
	}
}

// residuals returns what is left of a recorded history without its levels and drifts.
func residuals(r recording) []float64 {
	f, _ := trend.Find(r.values, trend.Settings{}, trend.State{})
	e := make([]float64, len(r.values))
	line := func(from, to int) {
		var mean float64
		for i := from; i < to; i++ {
			mean += math.Log(r.values[i]) / float64(to-from)
		}
		for i := from; i < to; i++ {
			e[i] = math.Log(r.values[i]) - mean
		}
	}
	from := 0
	for _, x := range f.Events {
		line(from, x.First)
		from = x.First
		if x.Kind == trend.Drift {
			for i := x.First; i <= x.Last; i++ {
				along := float64(i-x.First) / float64(x.Last-x.First)
				e[i] = math.Log(r.values[i]) - math.Log(x.Before)*(1-along) - math.Log(x.After)*along
			}
			from = x.Last + 1
		}
	}
	line(from, len(e))
	return e
}

// plant puts up to three steps into a stretch of recorded noise.
func plant(noise []float64, r *rand.Rand) labelled {
	n := 120 + r.IntN(min(280, len(noise)-120))
	start := r.IntN(len(noise) - n + 1)
	part := noise[start : start+n]
	far := make([]float64, n)
	for i, v := range part {
		far[i] = math.Abs(v)
	}
	slices.Sort(far)
	l := labelled{noise: max(1.4826*far[n/2], 0.001)}
	if r.IntN(4) > 0 {
		l.truth = newTruth("normal", n, r)
	}
	e := make([]float64, n)
	for i, v := range part {
		e[i] = v / l.noise
	}
	l.values = l.over(e)
	return l
}
