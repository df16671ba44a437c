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
	"github.com/goatnote-inc/pawl/stats"
)

// labelled is a history of which the truth is known.
type labelled struct {
	values []float64
	steps  []truth
	creeps bool
}

type truth struct {
	at   int
	size float64 // in logarithms
}

// kinds are what histories suffer from.
var kinds = []string{"steps", "outliers", "bimodal", "creep", "quiet"}

// newLabelled is a history with up to three steps of 2 to 20 %, at least 20 points apart, and noise of 0.5 to 2 %.
func newLabelled(kind string, r *rand.Rand) (labelled, float64) {
	n := 120 + r.IntN(280)
	noise := []float64{0.005, 0.01, 0.02}[r.IntN(3)]
	var l labelled
	if kind != "creep" && kind != "quiet" {
		for at := 20 + r.IntN(60); at < n-20 && len(l.steps) < 3; at += 20 + r.IntN(120) {
			size := math.Log(1.02 + 0.18*r.Float64())
			if r.IntN(2) == 0 {
				size = -size
			}
			l.steps = append(l.steps, truth{at, size})
		}
	}
	slope := 0.0
	if kind == "creep" {
		l.creeps = true
		slope = math.Log(1.03+0.1*r.Float64()) / float64(n)
	}
	level, other := math.Log(1e6), 4*noise
	for i, next := 0, 0; i < n; i++ {
		if next < len(l.steps) && l.steps[next].at == i {
			level += l.steps[next].size
			next++
		}
		v := level + slope*float64(i) + noise*r.NormFloat64()
		switch {
		case kind == "outliers" && r.IntN(20) == 0:
			v += math.Log(1.2 + 0.8*r.Float64())
		case kind == "bimodal" && r.IntN(3) == 0:
			v += other
		}
		l.values = append(l.values, math.Exp(v))
	}
	if kind == "bimodal" { // what one point differs from the next by
		noise = math.Hypot(noise, other*math.Sqrt(2)/3)
	}
	return l, noise
}

// score counts what a finder of steps told, and what it should have.
type score struct{ told, right, due, found, series, creepsTold int }

// add counts one history. A step is right within two points of one that there is, and due
// if it is at least twice the noise.
func (s *score) add(l labelled, noise float64, told []int) {
	s.series++
	s.told += len(told)
	hit := func(at int) func(truth) bool { return func(x truth) bool { return max(at-x.at, x.at-at) <= 2 } }
	for _, at := range told {
		if slices.ContainsFunc(l.steps, hit(at)) {
			s.right++
		}
	}
	for _, x := range l.steps {
		if math.Abs(x.size) < 2*noise {
			continue
		}
		s.due++
		if slices.ContainsFunc(told, func(at int) bool { return hit(at)(x) }) {
			s.found++
		}
	}
}

func (s *score) precision() float64 { return float64(s.right) / max(1, float64(s.told)) }
func (s *score) recall() float64    { return float64(s.found) / max(1, float64(s.due)) }

// measured lets both find steps in n histories of every kind.
func measured(n int, seed uint64) map[string][2]score {
	all := map[string][2]score{}
	for k, kind := range kinds {
		r := rand.New(rand.NewPCG(seed, uint64(k)))
		var ours, otava score
		for range n {
			l, noise := newLabelled(kind, r)
			f, _ := trend.Find(l.values, trend.Settings{}, trend.State{})
			var told []int
			for _, e := range f.Events {
				if e.Kind == trend.Step {
					told = append(told, e.First)
				} else {
					ours.creepsTold++
				}
			}
			ours.add(l, noise, told)
			told = nil
			for _, c := range (stats.ChangeFinder{LikeOtava: true}).Find(l.values) {
				told = append(told, c.Index)
			}
			otava.add(l, noise, told)
		}
		all[kind] = [2]score{ours, otava}
	}
	return all
}

// Steps of at least twice the noise are found, and what is told is there: nine of ten
// at least, also with outliers and two speeds, and beside Otava's rule with its defaults.
func TestPrecisionAndRecall(t *testing.T) {
	n, dir := 80, os.Getenv("PAWL_LAB")
	if dir != "" {
		n = 2000
	}
	var text strings.Builder
	text.WriteString("| history | finder | steps told | precision | recall of | steps due | drifts told |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	row := func(kind string, i int, s score) {
		recall := "" // where nothing is due, nothing can be found
		if s.due > 0 {
			recall = fmt.Sprintf("%.3f", s.recall())
		}
		fmt.Fprintf(&text, "| %s | %s | %d | %.3f | %s | %d | %d |\n", kind, []string{"pawl", "Otava"}[i], s.told, s.precision(), recall, s.due, s.creepsTold)
	}
	var sum [2]score
	all := measured(n, 1)
	for _, kind := range kinds {
		for i, s := range all[kind] {
			sum[i].told += s.told
			sum[i].right += s.right
			sum[i].due += s.due
			sum[i].found += s.found
			sum[i].creepsTold += s.creepsTold
			row(kind, i, s)
		}
	}
	row("all", 0, sum[0])
	row("all", 1, sum[1])
	t.Log("\n" + text.String())
	if sum[0].precision() < 0.9 || sum[0].recall() < 0.9 {
		t.Errorf("precision %.3f, recall %.3f", sum[0].precision(), sum[0].recall())
	}
	if dir != "" {
		if err := os.WriteFile(filepath.Join(dir, "trend-generator.md"), []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
