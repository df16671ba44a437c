package correctness

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

var (
	inf = math.Inf(1)
	nan = math.NaN()
)

// of makes a tensor with one dimension.
func of(d tensor.DType, values ...float64) tensor.Tensor {
	t := tensor.Tensor{Name: "out", DType: d, Shape: []int{len(values)}, Data: make([]byte, len(values)*d.Size())}
	tensor.Encode(d, t.Data, values)
	return t
}

func within(atol, rtol float64) Rules {
	return Rules{Close: &Close{Atol: atol, Rtol: rtol, Matched: 1}}
}

func TestCompare(t *testing.T) {
	for _, tt := range []struct {
		name      string
		d         tensor.DType
		want, got []float64
		rules     Rules
		failed    RuleName
		wrong     int
		at        int // the worst element
	}{
		{"equal", tensor.F32, []float64{1, 2}, []float64{1, 2}, within(0, 0), "", 0, 0},
		{"inside atol", tensor.F16, []float64{0, 1}, []float64{0.001953125, 1}, within(2e-3, 1e-3), "", 0, 0},
		{"inside rtol", tensor.F16, []float64{1000, 1}, []float64{1001, 1}, within(2e-3, 1e-3), "", 0, 0},
		{"outside", tensor.F16, []float64{1000, 1, 2}, []float64{1002, 1, 2.25}, within(2e-3, 1e-3), RuleClose, 2, 0},
		{"the furthest outside", tensor.F32, []float64{1, 1, 1}, []float64{2, 4, 3}, within(1e-3, 1e-3), RuleClose, 3, 1},
		{"enough match", tensor.F32, []float64{1, 1, 1, 1}, []float64{1, 1, 1, 2}, Rules{Close: &Close{Matched: 0.75}}, "", 1, 3},
		{"too few match", tensor.F32, []float64{1, 1, 1, 1}, []float64{1, 1, 3, 2}, Rules{Close: &Close{Matched: 0.75}}, RuleClose, 2, 2},

		{"NaN by place", tensor.F32, []float64{nan, 1}, []float64{nan, 1}, within(0, 0), "", 0, 1},
		{"NaN too many", tensor.F32, []float64{1, 1}, []float64{1, nan}, within(9, 9), RuleNaN, 1, 1},
		{"NaN too few", tensor.F32, []float64{5, nan}, []float64{0, 1}, within(1, 0), RuleNaN, 2, 1},
		{"infinity by place", tensor.F16, []float64{inf, -inf}, []float64{inf, -inf}, within(0, 0), "", 0, 0},
		{"the sign of infinity", tensor.F16, []float64{inf, 1}, []float64{-inf, 1}, within(9, 9), RuleInfinity, 1, 0},
		{"infinity for a number", tensor.F16, []float64{1, 2}, []float64{1, inf}, within(9, 9), RuleInfinity, 1, 1},
		{"a number for infinity", tensor.F16, []float64{1, inf}, []float64{1, 60000}, within(9, 9), RuleInfinity, 1, 1},
		{"NaN before infinity", tensor.F16, []float64{1, 2}, []float64{inf, nan}, within(9, 9), RuleNaN, 2, 1},

		{"overflow is right where the result does not fit", tensor.F16, []float64{70000, -1e9}, []float64{inf, -inf}, within(0, 1e-3), "", 0, 0},
		{"either side of the edge", tensor.F16, []float64{65519, 65519}, []float64{inf, 65504}, within(0, 1e-3), "", 0, 1},
		{"overflow without need", tensor.F16, []float64{60000}, []float64{inf}, within(0, 1e-3), RuleInfinity, 1, 0},
		{"the wrong infinity", tensor.F16, []float64{70000}, []float64{-inf}, within(0, 1e-3), RuleInfinity, 1, 0},
		{"saturated where there is infinity", tensor.F16, []float64{1e6}, []float64{65504}, within(0, 1e-3), RuleClose, 1, 0},
		{"e4m3 saturates", tensor.E4M3, []float64{1000, -1000}, []float64{448, -448}, within(0, 1e-3), "", 0, 0},
		{"e4m3 overflows to NaN", tensor.E4M3, []float64{1000, inf}, []float64{nan, nan}, within(0, 1e-3), "", 0, 0},
		{"e4m3 saturates to the wrong side", tensor.E4M3, []float64{1000}, []float64{-448}, within(0, 1e-3), RuleClose, 1, 0},
		{"e4m3fnuz saturates", tensor.E4M3FNUZ, []float64{1000, -inf}, []float64{240, -240}, within(0, 1e-3), "", 0, 0},
		{"e5m2fnuz overflows to NaN", tensor.E5M2FNUZ, []float64{1e6, inf}, []float64{nan, nan}, within(0, 1e-3), "", 0, 0},
		{"e5m2 saturates, but has an infinity", tensor.E5M2, []float64{1e6}, []float64{57344}, within(0, 1e-3), RuleClose, 1, 0},
		{"e2m1 saturates", tensor.E2M1, []float64{100, -inf}, []float64{6, -6}, within(0, 1e-3), "", 0, 0},
		{"e2m1 saturates to the wrong side", tensor.E2M1, []float64{-100}, []float64{6}, within(0, 1e-3), RuleClose, 1, 0},
		{"e3m2 has no NaN", tensor.E3M2, []float64{nan, nan, 1}, []float64{28, 0, 1}, within(0, 1e-3), "", 0, 2},
		{"e8m0 has NaN", tensor.E8M0, []float64{nan}, []float64{4}, within(0, 1e-3), RuleNaN, 1, 0},
		{"e8m0 overflows to NaN", tensor.E8M0, []float64{0x1.8p127}, []float64{nan}, within(0, 1e-3), "", 0, 0},
		{"e4m3 NaN without need", tensor.E4M3, []float64{400}, []float64{nan}, within(0, 1e-3), RuleNaN, 1, 0},

		{"integers are exact", tensor.I32, []float64{1, 2}, []float64{1, 3}, RulesFor(suite.Tolerance{}, tensor.I32, true), RuleClose, 1, 1},
		{"the ends of a type", tensor.U8, []float64{255, 0}, []float64{255, 0}, within(0, 0), "", 0, 0},
		{"nothing", tensor.F32, nil, nil, within(0, 0), "", 0, 0},
		{"all infinities", tensor.F32, []float64{inf}, []float64{inf}, Rules{Cosine: new(1e-5)}, "", 0, 0},

		{"direction", tensor.F32, []float64{1, 0}, []float64{1, 0.001}, Rules{Cosine: new(1e-5)}, "", 0, 1},
		{"another direction", tensor.F32, []float64{1, 0}, []float64{1, 0.1}, Rules{Cosine: new(1e-5)}, RuleCosine, 0, 1},
		{"another length", tensor.F32, []float64{1, 2}, []float64{2, 4}, Rules{Cosine: new(1e-5)}, RuleCosine, 0, 1},
		{"noise around zero has no direction", tensor.F32, []float64{0, 0}, []float64{1e-6, -1e-6}, Rules{Cosine: new(1e-9)}, "", 0, 0},
		{"all rules must hold", tensor.F32, []float64{1, 0}, []float64{1, 0.1}, Rules{Close: &Close{Atol: 1, Matched: 1}, Cosine: new(1e-5)}, RuleCosine, 0, 1},
	} {
		c := Compare(Sides{Want: of(tensor.F64, tt.want...), Got: of(tt.d, tt.got...)}, tt.rules)
		if c.Failed != tt.failed || c.OK != (tt.failed == "") || c.Wrong != tt.wrong || c.Worst.Position != tt.at {
			t.Errorf("%s: failed %q with %d wrong, worst %d; want %q, %d, %d\n  %s", tt.name, c.Failed, c.Wrong, c.Worst.Position, tt.failed, tt.wrong, tt.at, c.Sentence())
		}
		if _, err := json.Marshal(c); err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
	}
}

func TestFlashRule(t *testing.T) {
	want := []float64{1, 1, 1, 1}
	// The naive computation is off by 0.01; at 1.3 a step of F32 is 2^-23.
	naive := of(tensor.F32, 1.01, 1, 1, 1)
	for _, tt := range []struct {
		got float64
		ok  bool
	}{{1.0199, true}, {1.0201, false}, {0.9801, true}, {0.9799, false}} {
		c := Compare(Sides{Want: of(tensor.F64, want...), Got: of(tensor.F32, 1, 1, tt.got, 1), Naive: &naive}, Rules{Flash: new(2.0)})
		if c.OK != tt.ok {
			t.Errorf("%v: %s", tt.got, c.Sentence())
		}
	}
	// With a naive result without error, one step of the type is left.
	exact := of(tensor.F16, want...)
	for got, ok := range map[float64]bool{1 + 0x1p-10: true, 1 + 0x1p-9: false} {
		c := Compare(Sides{Want: of(tensor.F64, want...), Got: of(tensor.F16, got, 1, 1, 1), Naive: &exact}, Rules{Flash: new(2.0)})
		if c.OK != ok {
			t.Errorf("%v: %s", got, c.Sentence())
		}
	}
	c := Compare(Sides{Want: of(tensor.F64, want...), Got: of(tensor.F32, want...)}, Rules{Flash: new(2.0)})
	if c.OK || !strings.Contains(c.Problem, "needs the result of a naive computation") {
		t.Errorf("without a naive result: %+v", c)
	}
}

func TestUnwrittenIsNamed(t *testing.T) {
	for _, d := range []tensor.DType{tensor.F64, tensor.F32, tensor.F16, tensor.BF16, tensor.I32, tensor.E5M2} {
		const n, left = 100, 71
		seed := uint64(9)
		got := tensor.Tensor{Name: "out", DType: d, Shape: []int{n}, Data: tensor.Poison(seed, n*d.Size())}
		values := make([]float64, n)
		for i := range values {
			values[i] = 3
		}
		got.Write(0, values[:left])
		got.Write(left+1, values[left+1:])
		c := Compare(Sides{Want: of(tensor.F64, values...), Got: got, Poison: &seed}, within(1e-3, 1e-3))
		if c.Failed != RuleUnwritten || c.Unwritten != 1 || c.Worst.Position != left || !strings.Contains(c.Sentence(), "element 71 [71] was never written") {
			t.Errorf("%s: %s", d, c.Sentence())
		}
		other := seed + 1
		if c := Compare(Sides{Want: of(tensor.F64, values...), Got: got, Poison: &other}, within(1e-3, 1e-3)); c.OK || c.Unwritten != 0 {
			t.Errorf("%s: poison of another run taken for an unwritten element: %s", d, c.Sentence())
		}
	}
}

// NaN is right by place, and poison is NaN: left there it is not a result all the same.
func TestUnwrittenWhereNaNIsRight(t *testing.T) {
	seed := uint64(9)
	got := tensor.Tensor{Name: "out", DType: tensor.F16, Shape: []int{2}, Data: tensor.Poison(seed, 4)}
	got.Write(0, []float64{1})
	c := Compare(Sides{Want: of(tensor.F64, 1, nan), Got: got, Poison: &seed}, within(0, 0))
	if c.Failed != RuleUnwritten || c.Worst.Position != 1 {
		t.Error(c.Sentence())
	}
}

func TestGapsStayAsTheyWere(t *testing.T) {
	seed := uint64(3)
	got := tensor.Tensor{Name: "out", DType: tensor.F16, Shape: []int{2, 2}, Strides: []int{3, 1}, Data: tensor.Poison(seed, 2*6)}
	got.Write(0, []float64{1, 2, 3, 4})
	want := tensor.Tensor{Name: "out", DType: tensor.F64, Shape: []int{2, 2}, Data: of(tensor.F64, 1, 2, 3, 4).Data}
	if c := Compare(Sides{Want: want, Got: got, Poison: &seed}, within(0, 0)); !c.OK {
		t.Error(c.Sentence())
	}
	tensor.Encode(tensor.F16, got.Data[2*2:], []float64{9})
	if c := Compare(Sides{Want: want, Got: got, Poison: &seed}, within(0, 0)); c.Failed != RuleGaps || !strings.Contains(c.Sentence(), "the gaps between its strided elements were overwritten at 1 position") {
		t.Error(c.Sentence())
	}
	if c := Compare(Sides{Want: want, Got: got}, within(0, 0)); !c.OK {
		t.Errorf("what stood in the gaps is not known: %s", c.Sentence())
	}
}

func TestShapesMustAgree(t *testing.T) {
	got := of(tensor.F32, 1, 2)
	got.Shape = []int{2, 1}
	c := Compare(Sides{Want: of(tensor.F64, 1, 2), Got: got}, within(0, 0))
	if c.OK || c.Failed != RuleShape || !strings.Contains(c.Sentence(), "has shape [2 1], but the reference has [2]") {
		t.Error(c.Sentence())
	}
}

// An element is as the formula says, whatever the chunking and the strides.
func TestCloseIsTheFormula(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 3*chunk).Draw(t, "n")
		seed := rapid.Uint64().Draw(t, "seed")
		atol, rtol := rapid.Float64Range(0, 0.1).Draw(t, "atol"), rapid.Float64Range(0, 0.1).Draw(t, "rtol")
		a := tensor.Argument{Name: "out", Role: tensor.In, DType: tensor.F32, Shape: []int{n}, Strides: []int{rapid.IntRange(1, 3).Draw(t, "stride")}}
		got, err := Fill(a, "normal", seed)
		if err != nil {
			t.Fatal(err)
		}
		values := make([]float64, n)
		got.Read(values, 0)
		wrong := 0
		want := make([]float64, n)
		for i, x := range values {
			want[i] = x + 0.2*math.Sin(float64(i))
			if math.Abs(x-want[i]) > atol+rtol*math.Abs(want[i]) {
				wrong++
			}
		}
		c := Compare(Sides{Want: of(tensor.F64, want...), Got: got}, within(atol, rtol))
		if c.Wrong != wrong || c.OK != (wrong == 0) {
			t.Fatalf("%d wrong, want %d", c.Wrong, wrong)
		}
	})
}

func TestDefaultRules(t *testing.T) {
	none := suite.Tolerance{}
	for _, tt := range []struct {
		d             tensor.DType
		naive         bool
		close         *Close
		flash, cosine bool
	}{
		{tensor.F16, false, &Close{1e-5, 1e-3, 1, true}, false, false},
		{tensor.F16, true, nil, true, true},
		{tensor.F32, false, &Close{1e-5, 1.3e-6, 1, true}, false, false},
		{tensor.E4M3, true, &Close{0x1p-9, 0.125, 0.95, false}, false, true},
		{tensor.E5M2, false, &Close{0x1p-16, 0.25, 0.95, false}, false, true},
		{tensor.E4M3FNUZ, true, &Close{0x1p-10, 0.125, 0.95, false}, false, true},
		{tensor.E2M1x2, true, &Close{0.25, 0.2, 0.95, false}, false, true},
		{tensor.E8M0, false, &Close{0x1p-127, 0.5, 0.95, false}, false, true},
		{tensor.I64, true, &Close{0, 0, 1, false}, false, false},
		{tensor.Bool, false, &Close{0, 0, 1, false}, false, false},
	} {
		r := RulesFor(none, tt.d, tt.naive)
		if (r.Close == nil) != (tt.close == nil) || r.Close != nil && *r.Close != *tt.close || (r.Flash != nil) != tt.flash || (r.Cosine != nil) != tt.cosine {
			t.Errorf("%s, naive %v: %+v %+v", tt.d, tt.naive, r, r.Close)
		}
	}
	// What is written is all that holds.
	r := RulesFor(suite.Tolerance{Atol: new(2e-3), Rtol: new(1e-3)}, tensor.F16, true)
	if r.Flash != nil || r.Cosine != nil || *r.Close != (Close{Atol: 2e-3, Rtol: 1e-3, Matched: 1}) {
		t.Errorf("atol and rtol: %+v %+v", r, r.Close)
	}
	r = RulesFor(suite.Tolerance{Matched: new(0.9)}, tensor.BF16, true)
	if *r.Close != (Close{Atol: 1e-5, Rtol: 1.6e-2, Matched: 0.9}) {
		t.Errorf("matched alone: %+v", r.Close)
	}
	r = RulesFor(suite.Tolerance{Flash: new(3.0)}, tensor.F16, false)
	if r.Close != nil || *r.Flash != 3 {
		t.Errorf("flash alone: %+v", r)
	}
}

// Rounding to the type alone must pass the default rules of the type, and the
// rounding of the next smaller type must not.
func TestDefaultRulesTellTypesApart(t *testing.T) {
	for _, tt := range []struct{ d, smaller tensor.DType }{
		{tensor.F64, tensor.F32},
		{tensor.F32, tensor.TF32},
		{tensor.F32, tensor.F16},
		{tensor.F16, tensor.BF16},
		{tensor.BF16, tensor.E4M3},
		{tensor.E4M3, tensor.E5M2},
		{tensor.E4M3FNUZ, tensor.E5M2FNUZ},
		{tensor.E3M2, tensor.E2M1},
		{tensor.E2M3, tensor.E2M1},
	} {
		for _, scale := range []float64{1, 0.01, 300} {
			values := make([]float64, 4000)
			x, err := Fill(tensor.Argument{Name: "x", DType: tensor.F64, Shape: []int{len(values)}}, "normal", 5)
			if err != nil {
				t.Fatal(err)
			}
			x.Read(values, 0)
			right, wrong := make([]float64, len(values)), make([]float64, len(values))
			for i := range values {
				values[i] = min(values[i]*scale, 400)
				right[i], wrong[i] = tt.d.Round(values[i]), tt.smaller.Round(values[i])
				if tt.smaller == tensor.TF32 {
					wrong[i] = float64(tensor.RoundTF32(float32(values[i])))
				}
			}
			naive := of(tt.d, right...)
			for _, n := range []*tensor.Tensor{nil, &naive} {
				r := RulesFor(suite.Tolerance{}, tt.d, n != nil)
				want := of(tensor.F64, values...)
				if c := Compare(Sides{Want: want, Got: of(tt.d, right...), Naive: n}, r); !c.OK {
					t.Errorf("%s x %v, naive %v: rounding alone fails: %s", tt.d, scale, n != nil, c.Sentence())
				}
				switch {
				case tt.d == tensor.F64 && n == nil: // PyTorch's table for F64 is that wide
				case tt.d.Size() == 1 && scale < 0.1: // all denormal
				case Compare(Sides{Want: want, Got: of(tt.d, wrong...), Naive: n}, r).OK:
					t.Errorf("%s x %v, naive %v: the precision of %s passes", tt.d, scale, n != nil, tt.smaller)
				}
			}
		}
	}
}

func TestWeak(t *testing.T) {
	varied := make([]float64, 200_000)
	for i := range varied {
		varied[i] = math.Sin(float64(i))
	}
	flat := make([]float64, 200_000)
	for i := range flat {
		flat[i] = 5 + 1e-6*varied[i]
	}
	r := within(2e-3, 1e-3)
	if got := Weakness(of(tensor.F64, varied...), tensor.F16, nil, r); got != "" {
		t.Errorf("varied: %s", got)
	}
	if got := Weakness(of(tensor.F64, flat...), tensor.F16, nil, r); !strings.Contains(got, "nearly constant") {
		t.Errorf("flat: %q", got)
	}
	// Every second element says nothing: a sample must not see only those.
	half := slices.Clone(varied)
	for i := 0; i < len(half); i += 2 {
		half[i] = 5
	}
	if got := Weakness(of(tensor.F64, half...), tensor.F16, nil, r); got != "" {
		t.Errorf("half varied: %s", got)
	}
	same := of(tensor.F16, varied...)
	if got := Weakness(of(tensor.F64, varied...), tensor.F16, &same, r); !strings.Contains(got, "ignores its inputs") {
		t.Errorf("same result: %q", got)
	}
	if got := Weakness(of(tensor.F64, varied...), tensor.F16, &same, Rules{Flash: new(2.0), Cosine: new(1e-5)}); !strings.Contains(got, "ignores its inputs") {
		t.Errorf("same result, other rules: %q", got)
	}
}

func BenchmarkCompareF16(b *testing.B) {
	const n = 1 << 20
	got, err := Fill(tensor.Argument{Name: "out", DType: tensor.F16, Shape: []int{n}}, "normal", 1)
	if err != nil {
		b.Fatal(err)
	}
	values := make([]float64, n)
	got.Read(values, 0)
	want := of(tensor.F64, values...)
	b.SetBytes(n * 2)
	for b.Loop() {
		Compare(Sides{Want: want, Got: got}, within(2e-3, 1e-3))
	}
}
