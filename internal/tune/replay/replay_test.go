package replay_test

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/tune/replay"
	"github.com/goatnote-inc/pawl/internal/tune/search"
)

const small = `bx,by,mode,status,time_ms,eval_cost_s,times_ms
16,1,a,ok,4,1.5,4 4.2 3.8
128,1,a,ok,2,1,2 2 2
32,2,b,compile_error,,0.5,
32,1,b,ok,1,2,
16,2,a,runtime_error,,3,
`

func read(t testing.TB, text string) *replay.Recording {
	t.Helper()
	rec, err := replay.Read(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

func TestRead(t *testing.T) {
	rec := read(t, small)
	if rec.Space.Len() != 5 || rec.Optimum != 1 || rec.Cost() != 8 {
		t.Errorf("%d points, optimum %g, cost %g", rec.Space.Len(), rec.Optimum, rec.Cost())
	}
	if diff := cmp.Diff([]any{16, 32, 128}, rec.Space.Parameters()[0].Values); diff != "" {
		t.Errorf("numbers are not in their order (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]any{"bx": 128, "by": 1, "mode": "a"}, rec.Space.Config(1)); diff != "" {
		t.Errorf("point 1 (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(replay.Row{Status: "ok", Time: 4, Cost: 1.5, Times: []float64{4, 4.2, 3.8}}, rec.Rows[0]); diff != "" {
		t.Errorf("row 0 (-want +got):\n%s", diff)
	}
}

func TestReadRefuses(t *testing.T) {
	head, _, _ := strings.Cut(small, "\n")
	for name, text := range map[string]string{
		"nothing":      "",
		"other header": "a,b\n1,2\n",
		"no times":     head + "\n1,1,a,compile_error,,1,\n",
		"twice":        head + "\n1,1,a,ok,1,1,\n1,1,a,ok,1,1,\n",
		"no number":    head + "\n1,1,a,ok,fast,1,\n",
		"no cost":      head + "\n1,1,a,ok,1,,\n",
		"zero":         head + "\n1,1,a,ok,0,1,\n",
		"infinite":     head + "\n1,1,a,ok,Inf,1,\n",
		"short row":    head + "\n1,1\n",
	} {
		if _, err := replay.Read(strings.NewReader(text)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Failed points count, the best is kept, and what is spent is the recorded cost.
func TestRunCounts(t *testing.T) {
	rec := read(t, small)
	trace := replay.Run(rec, search.NewExhaustive(rec.Space), replay.Plan{Evaluations: 10}, 1)
	told := func(p int) search.Outcome {
		row := rec.Rows[p]
		return search.Outcome{Point: p, Value: row.Time, Failed: row.Failed(), Cost: row.Cost}
	}
	want := replay.Trace{
		{Outcome: told(0), Spent: 1.5, Best: 0, Fraction: 0.25},
		{Outcome: told(1), Spent: 2.5, Best: 1, Fraction: 0.5},
		{Outcome: told(2), Spent: 3, Best: 1, Fraction: 0.5},
		{Outcome: told(3), Spent: 5, Best: 3, Fraction: 1},
		{Outcome: told(4), Spent: 8, Best: 3, Fraction: 1},
	}
	if diff := cmp.Diff(want, trace); diff != "" {
		t.Errorf("trace (-want +got):\n%s", diff)
	}
	if trace.At(2) != 0.5 || trace.At(100) != 1 || trace.After(4.9) != 0.5 || trace.After(0) != 0 {
		t.Errorf("at 2: %g, at 100: %g, after 4.9 s: %g, after 0 s: %g", trace.At(2), trace.At(100), trace.After(4.9), trace.After(0))
	}
	short := replay.Run(rec, search.NewExhaustive(rec.Space), replay.Plan{Evaluations: 10, Seconds: 2}, 1)
	if len(short) != 2 {
		t.Errorf("with 2 s there were %d evaluations, want 2", len(short))
	}
}

// A repeat gives the same whether it runs alone, first or last: nothing is shared.
func TestRepeatsAreIndependent(t *testing.T) {
	rec := generated(t)
	for _, name := range search.Names() {
		run := func(seed uint64) replay.Trace {
			s, err := search.New(name, rec.Space, search.Options{Seed: seed, Evaluations: 40})
			if err != nil {
				t.Fatal(err)
			}
			return replay.Run(rec, s, replay.Plan{Evaluations: 40, Noisy: true}, seed)
		}
		seeds := []uint64{1, 2, 3}
		alone := map[uint64]replay.Trace{}
		for _, seed := range seeds {
			alone[seed] = run(seed)
		}
		for _, seed := range slices.Backward(seeds) {
			if diff := cmp.Diff(alone[seed], run(seed)); diff != "" {
				t.Errorf("%s: seed %d differs when it runs after others (-alone +after):\n%s", name, seed, diff)
			}
		}
		if name != "exhaustive" && cmp.Equal(alone[1], alone[2]) {
			t.Errorf("%s: seeds 1 and 2 did the same", name)
		}
	}
}

// The mean of random search on a recorded space is the one that was counted elsewhere
// with 1000 repeats: the counting is the same.
func TestRandomIsAsTheAnchors(t *testing.T) {
	data := os.Getenv("PAWL_DATA")
	if data == "" {
		t.Skip("PAWL_DATA is not set: no recorded spaces here")
	}
	rec, err := replay.Open(filepath.Join(data, "tuning-spaces", "convbat_rtx3090.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for evaluations, want := range map[int]float64{20: 0.769, 50: 0.862, 100: 0.916, 200: 0.946} {
		sum := 0.0
		const repeats = 400
		for seed := range uint64(repeats) {
			s := search.NewRandom(rec.Space, search.Options{Seed: seed})
			sum += replay.Run(rec, s, replay.Plan{Evaluations: 200}, seed).At(evaluations)
		}
		if got := sum / repeats; math.Abs(got-want) > 0.02 {
			t.Errorf("random after %d: %.3f, the anchors have %.3f", evaluations, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte("a,status,time_ms,eval_cost_s,times_ms\n1,ok,1,1,1 1\n01,ok,1,1,\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, err := replay.Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		if rec.Space.Len() != len(rec.Rows) || rec.Optimum <= 0 {
			t.Errorf("%d points, %d rows, optimum %g", rec.Space.Len(), len(rec.Rows), rec.Optimum)
		}
	})
}
