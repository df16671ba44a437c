package search_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/tune/search"
	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// tiles is a small space with traits of real ones.
func tiles(t testing.TB) *space.Space {
	t.Helper()
	return build(t, "block * tile <= 1024", "shared or unroll < 8")
}

// few is a part of it that can be asked for as a whole.
func few(t testing.TB) *space.Space {
	t.Helper()
	return build(t, "block % 32 == 0", "shared and layout != 'blocked'", "block <= 128")
}

func build(t testing.TB, constraints ...string) *space.Space {
	t.Helper()
	p, err := space.Compile(space.Definition{
		Parameters: []space.Parameter{
			{Name: "block", Values: []any{16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256}},
			{Name: "tile", Values: []any{1, 2, 3, 4, 5, 6}},
			{Name: "unroll", Values: []any{1, 2, 4, 8}},
			{Name: "layout", Values: []any{"rows", "columns", "blocked"}},
			{Name: "shared", Values: []any{false, true}},
		},
		Constraints: constraints,
	})
	if err != nil {
		t.Fatal(err)
	}
	s, err := p.Space(space.MaxPoints, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// evaluate is a kernel that likes 384 elements a block, whole warps and shared memory,
// and does not compile with much unrolling of large tiles.
func evaluate(s *space.Space, point int) search.Outcome {
	v := s.Point(point)
	block, _ := space.Number(s.Parameters()[0].Values[v[0]])
	tile, unroll := float64(v[1])+1, math.Exp2(float64(v[2]))
	o := search.Outcome{Point: point, Cost: 0.5 + 0.2*unroll}
	if unroll*tile > 36 {
		o.Failed = true
		return o
	}
	o.Value = 1 + math.Abs(math.Log2(block*tile/384)) + 0.05*math.Abs(unroll-4) + 0.2*float64(v[3])
	if v[4] == 0 {
		o.Value += 0.2 * tile
	}
	if int(block)%32 != 0 {
		o.Value *= 1.4
	}
	return o
}

func made(t testing.TB, name string, s *space.Space, o search.Options) search.Strategy {
	t.Helper()
	strategy, err := search.New(name, s, o)
	if err != nil {
		t.Fatal(err)
	}
	return strategy
}

// Every strategy proposes each point once, whatever the batch, until there is none.
func TestEveryPointOnce(t *testing.T) {
	s := few(t)
	for _, name := range search.Names() {
		strategy := made(t, name, s, search.Options{Seed: 1})
		seen := make([]bool, s.Len())
		count := 0
		for {
			batch := strategy.Ask(64)
			if len(batch) == 0 {
				break
			}
			for _, p := range batch {
				if seen[p] {
					t.Fatalf("%s: point %d was asked twice", name, p)
				}
				seen[p] = true
				count++
				strategy.Tell(evaluate(s, p))
			}
		}
		if count != s.Len() {
			t.Errorf("%s: asked %d of %d points", name, count, s.Len())
		}
	}
}

// 64 evaluators answer in any order, some never: proposals go on and stay distinct.
func TestManyEvaluators(t *testing.T) {
	s := tiles(t)
	for _, name := range search.Names() {
		strategy, rng := made(t, name, s, search.Options{Seed: 3}), rand.New(rand.NewPCG(3, 3))
		out, seen := strategy.Ask(64), map[int]bool{}
		for range 100 {
			at := rng.IntN(len(out))
			point := out[at]
			out = slices.Delete(out, at, at+1)
			if seen[point] {
				t.Fatalf("%s: point %d was asked twice", name, point)
			}
			seen[point] = true
			if rng.IntN(10) > 0 {
				strategy.Tell(evaluate(s, point))
			}
			out = append(out, strategy.Ask(1)...)
		}
		if len(out) != 64 {
			t.Errorf("%s: %d of 64 evaluators have work", name, len(out))
		}
	}
}

func run(t testing.TB, name string, s *space.Space, o search.Options, evaluations int) []int {
	t.Helper()
	strategy := made(t, name, s, o)
	var list []int
	for len(list) < evaluations {
		asked := strategy.Ask(1)
		if len(asked) == 0 {
			break
		}
		list = append(list, asked...)
		strategy.Tell(evaluate(s, asked[0]))
	}
	return list
}

func TestSeedDecides(t *testing.T) {
	s := tiles(t)
	for _, name := range search.Names() {
		a, b := run(t, name, s, search.Options{Seed: 5}, 60), run(t, name, s, search.Options{Seed: 5}, 60)
		if diff := cmp.Diff(a, b); diff != "" {
			t.Errorf("%s: the same seed went two ways (-first +second):\n%s", name, diff)
		}
		if name != "exhaustive" && slices.Equal(a, run(t, name, s, search.Options{Seed: 6}, 60)) {
			t.Errorf("%s: seeds 5 and 6 went the same way", name)
		}
	}
}

func least(s *space.Space, points []int) float64 {
	best := math.Inf(1)
	for _, p := range points {
		if o := evaluate(s, p); !o.Failed {
			best = min(best, o.Value)
		}
	}
	return best
}

// What each strategy is for: the model needs a fraction of what random search needs.
func TestModelIsBetterThanRandom(t *testing.T) {
	testrun.SkipRace(t)
	s := tiles(t)
	all := make([]int, s.Len())
	for i := range all {
		all[i] = i
	}
	optimum := least(s, all)
	mean := map[string]float64{}
	for _, name := range []string{"random", "annealing", "genetic", "model", "auto"} {
		for seed := range uint64(5) {
			mean[name] += optimum / least(s, run(t, name, s, search.Options{Seed: seed}, 50)) / 5
		}
	}
	t.Logf("fraction of the optimum after 50 of %d: %v", s.Len(), mean)
	if mean["model"] < 0.97 || mean["auto"] < 0.97 {
		t.Errorf("model %.3f, auto %.3f, want 0.97", mean["model"], mean["auto"])
	}
	if mean["random"] > mean["model"]-0.05 {
		t.Errorf("random %.3f, model %.3f: the space is too easy for this test", mean["random"], mean["model"])
	}
}

// A space where nothing works does not stop a strategy.
func TestEverythingFails(t *testing.T) {
	s := tiles(t)
	for _, name := range search.Names() {
		strategy := made(t, name, s, search.Options{Seed: 1})
		for i := range 60 {
			asked := strategy.Ask(1)
			if len(asked) != 1 {
				t.Fatalf("%s: nothing after %d failures", name, i)
			}
			strategy.Tell(search.Outcome{Point: asked[0], Failed: true})
		}
	}
}

func TestUnknownStrategy(t *testing.T) {
	if _, err := search.New("magic", tiles(t), search.Options{}); err == nil {
		t.Error("no error")
	}
}
