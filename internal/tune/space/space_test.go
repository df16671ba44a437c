package space_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
	"github.com/goatnote-inc/pawl/internal/tune/space"
)

func ints(values ...int) []any {
	list := make([]any, len(values))
	for i, v := range values {
		list[i] = v
	}
	return list
}

func upTo(n int) []any {
	list := make([]any, n)
	for i := range list {
		list[i] = i + 1
	}
	return list
}

func compile(t testing.TB, d space.Definition) *space.Problem {
	t.Helper()
	p, err := space.Compile(d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func whole(t testing.TB, d space.Definition) *space.Space {
	t.Helper()
	s, err := compile(t, d).Space(space.MaxPoints, rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The space is exactly the part of the product that the constraints leave.
func TestSpaceIsTheFilteredProduct(t *testing.T) {
	conditions := []string{
		"a * b <= 8", "a % b == 0", "c != 2 or d", "s == 'x' and a > 1", "b < c", "sizeof(s2) * c >= 4", "not d or b == 1", "a + b + c > 4", "1 <= a <= 3",
	}
	rapid.Check(t, func(t *rapid.T) {
		d := space.Definition{Parameters: []space.Parameter{
			{Name: "a", Values: upTo(rapid.IntRange(1, 5).Draw(t, "a"))},
			{Name: "b", Values: upTo(rapid.IntRange(1, 4).Draw(t, "b"))},
			{Name: "c", Values: ints(1, 2, 4)},
			{Name: "d", Values: []any{false, true}},
			{Name: "s", Values: []any{"x", "y"}, When: "a > 2"},
			{Name: "s2", Values: []any{"fp16", "fp32"}},
		}}
		d.Constraints = rapid.SliceOfNDistinct(rapid.SampledFrom(conditions), 0, 5, rapid.ID[string]).Draw(t, "constraints")
		want := brute(t, d)
		p, err := space.Compile(d)
		if err != nil {
			t.Fatal(err)
		}
		n, err := p.Count()
		if err != nil {
			t.Fatal(err)
		}
		if int(n) != len(want) {
			t.Fatalf("counted %d points, want %d", n, len(want))
		}
		s, err := p.Space(1000, nil)
		if len(want) == 0 {
			if err == nil {
				t.Fatal("an empty space is no error")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i := range s.Len() {
			got = append(got, fmt.Sprint(s.Config(i)))
			if j, ok := s.Index(s.Point(i)); !ok || j != i {
				t.Fatalf("point %d is found as %d %v", i, j, ok)
			}
			if !p.Valid(s.Point(i)) {
				t.Fatalf("point %d is not valid", i)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("points (-want +got):\n%s", diff)
		}
	})
}

// brute builds the product and asks the expressions themselves.
func brute(t *rapid.T, d space.Definition) []string {
	var list []string
	config := map[string]any{}
	var walk func(k int)
	walk = func(k int) {
		if k < len(d.Parameters) {
			for _, v := range d.Parameters[k].Values {
				config[d.Parameters[k].Name] = v
				walk(k + 1)
			}
			return
		}
		for _, p := range d.Parameters {
			if p.When != "" && !holds(t, p.When, config) && config[p.Name] != p.Values[0] {
				return
			}
		}
		for _, c := range d.Constraints {
			if !holds(t, c, config) {
				return
			}
		}
		list = append(list, fmt.Sprint(config))
	}
	walk(0)
	slices.Sort(list)
	return list
}

func holds(t *rapid.T, source string, config map[string]any) bool {
	e, err := expr.Compile(source)
	if err != nil {
		t.Fatal(err)
	}
	yes, err := e.Bool(config)
	if err != nil {
		t.Fatal(err)
	}
	return yes
}

func TestValuesAreRanked(t *testing.T) {
	s := whole(t, space.Definition{Parameters: []space.Parameter{
		{Name: "n", Values: []any{8, 2.5, 4}, Default: 4.0}, {Name: "s", Values: []any{"z", "a"}, Default: "a"},
	}})
	if diff := cmp.Diff([]any{2.5, 4, 8}, s.Parameters()[0].Values); diff != "" {
		t.Errorf("numbers (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{"z", "a"}, s.Parameters()[1].Values); diff != "" {
		t.Errorf("texts (-want +got):\n%s", diff)
	}
	i, ok := s.Default()
	if diff := cmp.Diff(map[string]any{"n": 4, "s": "a"}, s.Config(i)); !ok || diff != "" {
		t.Errorf("default %v (-want +got):\n%s", ok, diff)
	}
}

func TestNeighbours(t *testing.T) {
	s := whole(t, space.Definition{
		Parameters: []space.Parameter{
			{Name: "n", Values: ints(1, 2, 4, 8)}, {Name: "s", Values: []any{"x", "y", "z"}},
		},
		Constraints: []string{"n != 2 or s == 'x'"},
	})
	at, _ := s.Index([]uint16{0, 1}) // n=1 s=y
	name := func(seq func(func(int) bool)) []string {
		var list []string
		for j := range seq {
			c := s.Config(j)
			list = append(list, fmt.Sprint(c["n"], c["s"]))
		}
		slices.Sort(list)
		return list
	}
	if diff := cmp.Diff([]string{"1x", "1z", "4y", "8y"}, name(s.Neighbors(at))); diff != "" {
		t.Errorf("neighbours (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"1x", "1z", "4y"}, name(s.Adjacent(at))); diff != "" {
		t.Errorf("adjacent (-want +got):\n%s", diff)
	}
}

// Every point comes equally often: chi-squared with 11 degrees stays under its 99.99 % point.
func TestSampleIsUniform(t *testing.T) {
	p := compile(t, space.Definition{
		Parameters:  []space.Parameter{{Name: "a", Values: upTo(6)}, {Name: "b", Values: upTo(6)}},
		Constraints: []string{"a * b == 6 or a + b == 4 or b == 5 and a < 6"},
	})
	n, err := p.Count()
	if err != nil || n != 12 {
		t.Fatalf("%d points, %v", n, err)
	}
	rng, seen := rand.New(rand.NewPCG(7, 7)), map[string]int{}
	const draws = 12_000
	for range draws {
		point, err := p.Sample(rng)
		if err != nil {
			t.Fatal(err)
		}
		seen[fmt.Sprint(point)]++
	}
	chi := 0.0
	for _, count := range seen {
		chi += float64((count-draws/12)*(count-draws/12)) / (draws / 12)
	}
	if len(seen) != 12 || chi > 37.4 {
		t.Errorf("%d points seen, chi-squared %.1f: %v", len(seen), chi, seen)
	}
}

// 10^18 points cannot be held: the space is a uniform sample with the default in it.
func TestSpaceTooLargeToHold(t *testing.T) {
	d := space.Definition{Constraints: []string{"p0 + p1 > 1", "p2 * p3 < 50"}}
	for i := range 18 {
		d.Parameters = append(d.Parameters, space.Parameter{Name: fmt.Sprintf("p%d", i), Values: upTo(10), Default: 2})
	}
	p := compile(t, d)
	if n, err := p.Count(); err != nil || n != 832_000_000_000_000_000 && n == 0 {
		t.Errorf("count %d, %v", n, err)
	}
	s, err := p.Space(2000, rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Default(); !ok || s.Complete() || s.Len() != 2000 {
		t.Errorf("default %v, complete %v, %d points", ok, s.Complete(), s.Len())
	}
	for i := range s.Len() {
		if !p.Valid(s.Point(i)) {
			t.Fatalf("point %d is not valid", i)
		}
	}
}

// More points than can be numbered: drawing and rejecting still works.
func TestSpaceTooLargeToCount(t *testing.T) {
	d := space.Definition{Constraints: []string{"p0 < p1"}}
	for i := range 40 {
		d.Parameters = append(d.Parameters, space.Parameter{Name: fmt.Sprintf("p%d", i), Values: upTo(10)})
	}
	s, err := compile(t, d).Space(100, rand.New(rand.NewPCG(1, 2)))
	if err != nil || s.Len() != 100 {
		t.Fatalf("%v", err)
	}
}

func TestCompileRefuses(t *testing.T) {
	one := space.Parameter{Name: "a", Values: ints(1, 2)}
	for name, c := range map[string]struct {
		d    space.Definition
		want string
	}{
		"nothing":          {space.Definition{}, "0 parameters"},
		"no values":        {space.Definition{Parameters: []space.Parameter{{Name: "a"}}}, "0 values"},
		"twice":            {space.Definition{Parameters: []space.Parameter{one, one}}, "twice"},
		"value twice":      {space.Definition{Parameters: []space.Parameter{{Name: "a", Values: []any{1, 1.0}}}}, "twice"},
		"kinds":            {space.Definition{Parameters: []space.Parameter{{Name: "a", Values: []any{1, "x"}}}}, "values of different types"},
		"default":          {space.Definition{Parameters: []space.Parameter{{Name: "a", Values: ints(1), Default: 3}}}, "default 3"},
		"itself":           {space.Definition{Parameters: []space.Parameter{{Name: "a", Values: ints(1), When: "a > 1"}}}, "itself"},
		"constraint":       {space.Definition{Parameters: []space.Parameter{one}, Constraints: []string{"b > 1"}}, "unknown variable"},
		"many values":      {space.Definition{Parameters: []space.Parameter{{Name: "a", Values: upTo(5000)}}}, "5000 values"},
		"many constraints": {space.Definition{Parameters: []space.Parameter{one}, Constraints: make([]string, 300)}, "300 constraints"},
	} {
		if _, err := space.Compile(c.d); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.want)
		}
	}
}

func FuzzCompile(f *testing.F) {
	f.Add("a*b <= 4", "a > 1", 3, 2)
	f.Add("(a ? b : c)", "", 1, 1)
	f.Add("a % (b - 1) == 0 and b ** a < 100", "not (a == 2)", 6, 6)
	f.Fuzz(func(t *testing.T, constraint, when string, a, b int) {
		if a < 0 || a > 20 || b < 0 || b > 20 {
			return
		}
		p, err := space.Compile(space.Definition{
			Parameters:  []space.Parameter{{Name: "a", Values: upTo(a)}, {Name: "b", Values: upTo(b), When: when}},
			Constraints: []string{constraint},
		})
		if err != nil {
			return
		}
		n, err := p.Count()
		if err != nil {
			t.Fatal(err)
		}
		found := uint64(0)
		p.Each(func([]uint16) bool { found++; return true })
		if found != n {
			t.Errorf("counted %d, found %d", n, found)
		}
	})
}
