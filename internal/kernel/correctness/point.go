package correctness

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// Point is one test: a config, a kind of contents, and their seed. It is all that is
// needed to reproduce the test.
type Point struct {
	Params suite.Params `json:"params"`
	Inputs string       `json:"inputs"`
	Seed   uint64       `json:"seed,string"`
}

func (p Point) String() string {
	return fmt.Sprintf("%s %s seed %d", suite.ConfigName(p.Params), p.Inputs, p.Seed)
}

// key distinguishes points that may have the same name.
func (p Point) key() string {
	return fmt.Sprintf("%s\x00%s\x00%d", paramsKey(p.Params), p.Inputs, p.Seed)
}

func paramsKey(params suite.Params) string {
	var b strings.Builder
	for _, param := range params {
		fmt.Fprintf(&b, "%q=%T:%v;", param.Name, param.Value, param.Value)
	}
	return b.String()
}

// Space describes the points to try: configs, and how to vary and multiply them.
type Space struct {
	Configs  []suite.Config
	Pairwise bool           // try only enough configs to cover every pair of values
	Jitter   map[string]int // max change of a value, by parameter
	Edges    map[string]int // tile sizes, by parameter; sizes around them are tried too
	Inputs   []string
	Seeds    int // seeds per config and kind of contents
	Most     int // max points; 0 means all
}

// SpaceOf returns the space that a suite declares for a benchmark.
func SpaceOf(c *suite.Check) Space {
	return Space{
		Configs: c.Fuzz.Configs, Pairwise: c.Fuzz.Cover == "pairwise",
		Jitter: c.Fuzz.Jitter, Edges: c.Fuzz.Edges, Inputs: c.Inputs, Seeds: c.Seeds,
	}
}

// maxPoints bounds the points of a campaign, regardless of the suite.
const maxPoints = 100_000

// Points returns the points to try, without duplicates, drawn from a secret seed. The cost
// function estimates the work of a config. Cheap configs come first, because a bug that
// they show is found and shrunk soonest. If there are more points than allowed, every
// config is tried once before any is tried twice.
func (s Space) Points(seed uint64, cost func(suite.Params) float64) []Point {
	most := maxPoints
	if s.Most > 0 {
		most = min(s.Most, most)
	}
	g := rand.New(rand.NewChaCha8(sha256.Sum256(fmt.Appendf(nil, "pawl points %d", seed))))
	declared := make([]suite.Params, len(s.Configs))
	for i, c := range s.Configs {
		declared[i] = c.Params
	}
	if s.Pairwise {
		declared = Pairwise(declared)
	}
	if len(s.Inputs) == 0 {
		s.Inputs = []string{Normal}
	}
	edges := s.edges(declared)
	seeds := max(s.Seeds, 1)
	if len(s.Jitter) > 0 {
		seeds = max(seeds, 2) // the first seed uses the values as written
	}
	var list []Point
	seen := map[string]int{}
	add := func(p suite.Params, inputs string) {
		key := paramsKey(p) + inputs
		if seed := g.Uint64(); len(list) < most && seen[key] < max(s.Seeds, 1) {
			seen[key]++
			list = append(list, Point{Params: p, Inputs: inputs, Seed: seed})
		}
	}
	// A round tries every config once. Each config starts with a different kind of contents.
	for round := range seeds * len(s.Inputs) {
		for i, p := range slices.Concat(declared, edges) {
			nth := round / len(s.Inputs)
			if i >= len(declared) && nth > 0 {
				continue // tile edges do not vary: one seed
			}
			if nth > 0 {
				p = s.jittered(p, g)
			}
			add(p, s.Inputs[(round+i)%len(s.Inputs)])
		}
	}
	slices.SortStableFunc(list, func(a, b Point) int { return cmp.Compare(cost(a.Params), cost(b.Params)) })
	return list
}

// jittered changes the values that may vary, each by at most its amount and never below
// 1. It changes at least one value if it can.
func (s Space) jittered(p suite.Params, g *rand.Rand) suite.Params {
	out := slices.Clone(p)
	for range 8 {
		moved := false
		for i, param := range p {
			by := s.Jitter[param.Name]
			x, ok := param.Value.(float64)
			if !ok || by <= 0 {
				continue
			}
			value := max(1, x+float64(g.IntN(2*by+1)-by))
			out[i].Value = value
			moved = moved || value != x
		}
		if moved {
			break
		}
	}
	return out
}

// edges returns the configs around the edges of tiles: 1, t-1, t, t+1, 2t-1 and 2t+1 of
// every parameter with a tile, in every pair. The other parameters have the values of
// the first declared config with the smallest sizes.
func (s Space) edges(declared []suite.Params) []suite.Params {
	if len(declared) == 0 || len(s.Edges) == 0 {
		return nil
	}
	base := slices.MinFunc(declared, func(a, b suite.Params) int { return cmp.Compare(volume(a), volume(b)) })
	configs := []suite.Params{base}
	for i, param := range base {
		tile := float64(s.Edges[param.Name])
		if _, number := param.Value.(float64); !number || tile <= 0 {
			continue
		}
		values := []float64{1, tile - 1, tile, tile + 1, 2*tile - 1, 2*tile + 1}
		slices.Sort(values)
		values = slices.DeleteFunc(slices.Compact(values), func(x float64) bool { return x < 1 })
		if len(configs)*len(values) > maxCovered {
			continue
		}
		var next []suite.Params
		for _, c := range configs {
			for _, v := range values {
				moved := slices.Clone(c)
				moved[i].Value = v
				next = append(next, moved)
			}
		}
		configs = next
	}
	return Pairwise(configs)
}

// volume returns the product of the numbers of a config, an estimate of its size if no
// better one is known.
func volume(p suite.Params) float64 {
	v := 1.0
	for _, param := range p {
		if x, ok := param.Value.(float64); ok {
			v *= math.Max(math.Abs(x), 1)
		}
	}
	return v
}

// derive returns the n-th seed derived from seed.
func derive(seed uint64, what string, n int) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "pawl %s %d %d", what, seed, n))
	return binary.LittleEndian.Uint64(sum[:])
}
