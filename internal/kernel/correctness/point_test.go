package correctness

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// grid makes every combination of values.
func grid(names string, values ...[]float64) []suite.Config {
	list := []suite.Params{{}}
	for i, vs := range values {
		var next []suite.Params
		for _, p := range list {
			for _, v := range vs {
				next = append(next, append(slices.Clone(p), suite.Param{Name: names[i : i+1], Value: v}))
			}
		}
		list = next
	}
	configs := make([]suite.Config, len(list))
	for i, p := range list {
		configs[i] = suite.Config{Name: suite.ConfigName(p), Params: p}
	}
	return configs
}

// The user's matrix: 27 configs.
func attention() []suite.Config {
	return grid("BHSD", []float64{16, 32, 48}, []float64{4, 8, 16}, []float64{448, 512, 640}, []float64{64})
}

func TestFullTriesEveryConfig(t *testing.T) {
	points := Space{Configs: attention(), Inputs: []string{Normal}, Seeds: 1}.Points(1, volume)
	if len(points) != 27 {
		t.Fatalf("%d points", len(points))
	}
	if !slices.IsSortedFunc(points, func(a, b Point) int { return int(volume(a.Params) - volume(b.Params)) }) {
		t.Error("the small ones do not come first")
	}
}

func TestPairwiseCoversAllPairs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "parameters")
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) suite.Params {
			p := suite.Params{}
			for i := range n {
				p = append(p, suite.Param{Name: fmt.Sprint(i), Value: float64(rapid.IntRange(1, 4).Draw(t, "value"))})
			}
			return p
		}), 1, 60).Draw(t, "configs")
		chosen := Pairwise(list)
		covered := map[pair]bool{}
		for _, p := range chosen {
			fresh := false
			for _, x := range pairsOf(p) {
				fresh = fresh || !covered[x]
				covered[x] = true
			}
			if !fresh {
				t.Fatalf("%v adds nothing", p)
			}
			if !slices.ContainsFunc(list, func(q suite.Params) bool { return cmp.Equal(p, q) }) {
				t.Fatalf("%v was made up", p)
			}
		}
		for _, p := range list {
			for _, x := range pairsOf(p) {
				if !covered[x] {
					t.Fatalf("the pair %v of %v is not covered by %v", x, p, chosen)
				}
			}
		}
	})
}

func TestPairwiseIsSmall(t *testing.T) {
	if n := len(Pairwise(params(attention()))); n > 11 { // 9 is the least there can be
		t.Errorf("%d of 27 configs", n)
	}
	ten := [][]float64{}
	for range 6 {
		ten = append(ten, []float64{1, 2, 3, 4})
	}
	if n := len(Pairwise(params(grid("abcdef", ten...)))); n > 32 { // of 4096; 16 is the least there could be
		t.Errorf("%d of 4096 configs", n)
	}
}

func params(configs []suite.Config) []suite.Params {
	var list []suite.Params
	for _, c := range configs {
		list = append(list, c.Params)
	}
	return list
}

func TestEdges(t *testing.T) {
	s := Space{Configs: grid("BS", []float64{4, 2}, []float64{512, 640}), Edges: map[string]int{"S": 64}, Inputs: []string{Normal}, Seeds: 2}
	var sizes []float64
	for _, p := range s.edges(params(s.Configs)) {
		b, _ := p.Get("B")
		if b != 2.0 {
			t.Errorf("%v: the other parameters are not the least", p)
		}
		v, _ := p.Get("S")
		sizes = append(sizes, v.(float64))
	}
	slices.Sort(sizes)
	if diff := cmp.Diff([]float64{1, 63, 64, 65, 127, 129}, sizes); diff != "" {
		t.Error(diff)
	}
	two := Space{Configs: s.Configs, Edges: map[string]int{"S": 64, "B": 1}}
	seen := map[string]bool{}
	for _, p := range two.edges(params(two.Configs)) {
		seen[suite.ConfigName(p)] = true
	}
	for _, want := range []string{"B1_S65", "B3_S127", "B2_S1", "B2_S129"} { // tile 1: 1, 2, 3
		if !seen[want] {
			t.Errorf("%s is missing in %v", want, seen)
		}
	}
	if seen["B0_S1"] {
		t.Error("a size of 0")
	}
}

func TestJitterMovesAndStaysInBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Space{
			Configs: grid("SB", []float64{2, 448, 640}, []float64{16}), Jitter: map[string]int{"S": rapid.IntRange(1, 8).Draw(t, "by")},
			Inputs: []string{Normal, Large}, Seeds: rapid.IntRange(1, 3).Draw(t, "seeds"),
		}
		points := s.Points(rapid.Uint64().Draw(t, "seed"), volume)
		moved := 0
		for _, p := range points {
			size, _ := p.Params.Get("S")
			x := size.(float64)
			near := false
			for _, c := range []float64{2, 448, 640} {
				near = near || math.Abs(x-c) <= float64(s.Jitter["S"])
			}
			if b, _ := p.Params.Get("B"); !near || x < 1 || b != 16.0 {
				t.Fatalf("%v", p)
			}
			if x != 2 && x != 448 && x != 640 {
				moved++
			}
		}
		if moved == 0 {
			t.Fatalf("nothing moved in %v", points)
		}
	})
}

func TestPointsAreNeverTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Space{
			Configs: grid("SB", []float64{64, 128}, []float64{1, 2}), Edges: map[string]int{"S": 64}, Jitter: map[string]int{"B": 1},
			Inputs: Distributions(), Seeds: rapid.IntRange(1, 3).Draw(t, "seeds"), Most: rapid.IntRange(0, 90).Draw(t, "most"),
			Pairwise: rapid.Bool().Draw(t, "pairwise"),
		}
		points := s.Points(rapid.Uint64().Draw(t, "seed"), volume)
		seen, seeds := map[string]bool{}, map[string]int{}
		for _, p := range points {
			if seen[p.key()] {
				t.Fatalf("%v twice", p)
			}
			seen[p.key()] = true
			like := paramsKey(p.Params) + p.Inputs
			if seeds[like]++; seeds[like] > s.Seeds {
				t.Fatalf("%v with more than %d seeds", p, s.Seeds)
			}
		}
		if s.Most > 0 && len(points) > s.Most {
			t.Fatalf("%d points (max %d)", len(points), s.Most)
		}
		if again := s.Points(1, volume); !cmp.Equal(again, s.Points(1, volume)) {
			t.Fatal("the same seed gave other points")
		}
	})
}

// A limit takes seeds and contents away, never configs, as long as it can.
func TestLimitKeepsEveryConfig(t *testing.T) {
	s := Space{Configs: attention(), Inputs: []string{Normal, Large, EqualRows}, Seeds: 2, Most: 30}
	configs, kinds := map[string]bool{}, map[string]bool{}
	for _, p := range s.Points(4, volume) {
		configs[suite.ConfigName(p.Params)] = true
		kinds[p.Inputs] = true
	}
	if len(configs) != 27 || len(kinds) != 3 {
		t.Errorf("%d configs, %d kinds of contents", len(configs), len(kinds))
	}
}
