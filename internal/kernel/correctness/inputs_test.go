package correctness

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

func fill(t testing.TB, a tensor.Argument, kind string, seed uint64) []float64 {
	t.Helper()
	x, err := Fill(a, kind, seed)
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float64, x.Len())
	x.Read(values, 0)
	return values
}

func TestInputsComeFromTheSeed(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := tensor.Argument{
			Name: "x", Role: tensor.In,
			DType: rapid.SampledFrom(tensor.DTypes()).Draw(t, "dtype"),
			Shape: rapid.SliceOfN(rapid.IntRange(1, 9), 1, 3).Draw(t, "shape"),
		}
		kind := rapid.SampledFrom(Distributions()).Draw(t, "kind")
		seed := rapid.Uint64().Draw(t, "seed")
		one, err := Fill(a, kind, seed)
		two, err2 := Fill(a, kind, seed)
		if err != nil || err2 != nil || !bytes.Equal(one.Data, two.Data) {
			t.Fatalf("the same seed gave different contents, or %v, %v", err, err2)
		}
	})
	a := tensor.Argument{Name: "x", DType: tensor.F16, Shape: []int{1000}}
	if slices.Equal(fill(t, a, Normal, 1), fill(t, a, Normal, 2)) {
		t.Error("two seeds gave the same contents")
	}
	b := a
	b.Name = "y"
	if slices.Equal(fill(t, a, Normal, 1), fill(t, b, Normal, 1)) {
		t.Error("two arguments have the same contents")
	}
}

func TestOnlyWhatIsReadIsMade(t *testing.T) {
	list, err := Inputs([]tensor.Argument{
		{Name: "a", Role: tensor.In, DType: tensor.F32, Shape: []int{2}},
		{Name: "b", Role: tensor.Out, DType: tensor.F32, Shape: []int{2}},
		{Name: "c", Role: tensor.InOut, DType: tensor.F32, Shape: []int{2}},
		{Name: "n", Role: tensor.Value, DType: tensor.I32, Value: 2},
	}, Normal, 1)
	if err != nil || len(list) != 2 || list[0].Name != "a" || list[1].Name != "c" {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := Inputs([]tensor.Argument{{Name: "a", Role: tensor.In, DType: tensor.F32}}, "weird", 1); err == nil {
		t.Error("unknown contents were made")
	}
}

func TestNormalHasItsMoments(t *testing.T) {
	for _, d := range []tensor.DType{tensor.F64, tensor.F32, tensor.F16, tensor.BF16, tensor.E4M3} {
		values := fill(t, tensor.Argument{Name: "x", DType: d, Shape: []int{200_000}}, Normal, 3)
		var sum, square, fourth float64
		beyond := 0
		for _, x := range values {
			sum += x
			square += x * x
			fourth += x * x * x * x
			if math.Abs(x) > 1.96 {
				beyond++
			}
		}
		n := float64(len(values))
		if math.Abs(sum/n) > 0.01 || math.Abs(square/n-1) > 0.02 || math.Abs(fourth/n-3) > 0.15 || math.Abs(float64(beyond)/n-0.05) > 0.005 && d != tensor.E4M3 {
			t.Errorf("%s: mean %v, variance %v, fourth moment %v, %v beyond 1.96", d, sum/n, square/n, fourth/n, float64(beyond)/n)
		}
	}
}

func TestKinds(t *testing.T) {
	shape := []int{64, 32}
	every := func(f func(x float64) bool) func([]float64) bool {
		return func(v []float64) bool { return !slices.ContainsFunc(v, func(x float64) bool { return !f(x) }) }
	}
	for _, tt := range []struct {
		name string
		d    tensor.DType
		kind string
		fill tensor.Fill
		ok   func([]float64) bool
	}{
		{"zeros", tensor.F16, Zeros, tensor.Fill{}, every(func(x float64) bool { return x == 0 })},
		{"constant", tensor.F16, Constant, tensor.Fill{}, func(v []float64) bool { return v[0] != 0 && every(func(x float64) bool { return x == v[0] })(v) }},
		{"equal rows", tensor.F16, EqualRows, tensor.Fill{}, func(v []float64) bool {
			return slices.Equal(v[:32], v[32*63:]) && slices.Equal(v[:32], v[32*7:32*8]) && v[0] != v[1]
		}},
		{"ones and zeros", tensor.BF16, OnesAndZeros, tensor.Fill{}, func(v []float64) bool {
			return slices.Contains(v, 0) && slices.Contains(v, 1) && every(func(x float64) bool { return x == 0 || x == 1 })(v)
		}},
		{"uniform", tensor.F32, Uniform, tensor.Fill{}, every(func(x float64) bool { return x >= -1 && x <= 1 })},
		{"large", tensor.F16, Large, tensor.Fill{}, func(v []float64) bool {
			return slices.Max(v) > 12 && slices.Min(v) < -12 && every(func(x float64) bool { return math.Abs(x) <= 16 && math.Abs(x) >= 0x1p-11 })(v)
		}},
		{"denormal", tensor.F16, Denormal, tensor.Fill{}, func(v []float64) bool {
			below := 0
			for _, x := range v {
				if math.Abs(x) < 0x1p-14 {
					below++
				}
			}
			return below > len(v)/2 && below < len(v) && every(func(x float64) bool { return math.Abs(x) <= 0x1p-12 })(v)
		}},
		{"infinities", tensor.F32, Infinities, tensor.Fill{}, func(v []float64) bool {
			n := 0
			for _, x := range v {
				if math.IsInf(x, 0) {
					n++
				}
			}
			return n > 0 && n <= 4 && slices.Contains(v, inf) && slices.Contains(v, -inf)
		}},
		{"no infinity in e4m3", tensor.E4M3, Infinities, tensor.Fill{}, func(v []float64) bool {
			return slices.Contains(v, 448) && every(func(x float64) bool { return x == x })(v)
		}},
		{"no infinity in e2m1x2", tensor.E2M1x2, Infinities, tensor.Fill{}, func(v []float64) bool {
			return len(v) == 2*64*32 && slices.Contains(v, 6) && slices.Contains(v, -6) && every(func(x float64) bool { return math.Abs(x) <= 6 })(v)
		}},
		{"constant e2m1x2", tensor.E2M1x2, Constant, tensor.Fill{}, func(v []float64) bool { return every(func(x float64) bool { return x == v[0] })(v) }},
		{"equal rows of e2m1x2", tensor.E2M1x2, EqualRows, tensor.Fill{}, func(v []float64) bool {
			return slices.Equal(v[:64], v[64*63:]) && slices.Max(v[:64]) > slices.Min(v[:64])
		}},
		{"scales", tensor.E8M0, Large, tensor.Fill{}, every(func(x float64) bool { return x >= 0x1p-11 && x <= 16 })},
		{"limits", tensor.F32, Normal, tensor.Fill{Kind: tensor.Uniform, Low: 2, High: 3}, every(func(x float64) bool { return x >= 2 && x <= 3 })},
		{"limits beat zeros", tensor.F32, Zeros, tensor.Fill{Kind: tensor.Uniform, Low: 2, High: 3}, every(func(x float64) bool { return x == 2 })},
		{"limits beat infinities", tensor.F32, Infinities, tensor.Fill{Kind: tensor.Uniform, Low: 0, High: 1}, every(func(x float64) bool { return x >= 0 && x <= 1 })},
		{"large between limits meets both ends", tensor.F32, Large, tensor.Fill{Kind: tensor.Uniform, Low: -2, High: 5}, func(v []float64) bool {
			return slices.Contains(v, -2) && slices.Contains(v, 5) && every(func(x float64) bool { return x >= -2 && x <= 5 })(v)
		}},
		{"integers exclude the end", tensor.I32, Normal, tensor.Fill{Kind: tensor.Uniform, Low: 0, High: 3}, func(v []float64) bool {
			return slices.Contains(v, 0) && slices.Contains(v, 2) && every(func(x float64) bool { return x == 0 || x == 1 || x == 2 })(v)
		}},
		{"indices at both ends", tensor.I64, Large, tensor.Fill{Kind: tensor.Uniform, Low: 0, High: 7}, func(v []float64) bool {
			return slices.Contains(v, 0) && slices.Contains(v, 6) && slices.Max(v) == 6 && slices.Min(v) == 0
		}},
		{"all of int8", tensor.I8, Normal, tensor.Fill{}, func(v []float64) bool { return slices.Max(v) > 120 && slices.Min(v) < -120 }},
		{"bool", tensor.Bool, Normal, tensor.Fill{}, func(v []float64) bool {
			return slices.Contains(v, 0) && slices.Contains(v, 1) && every(func(x float64) bool { return x == 0 || x == 1 })(v)
		}},
	} {
		v := fill(t, tensor.Argument{Name: "x", DType: tt.d, Shape: shape, Fill: tt.fill}, tt.kind, 7)
		if !tt.ok(v) {
			t.Errorf("%s: %v ...", tt.name, v[:8])
		}
	}
}

func TestGapsHoldNaN(t *testing.T) {
	x, err := Fill(tensor.Argument{Name: "x", DType: tensor.F16, Shape: []int{3, 2}, Strides: []int{5, 1}}, Normal, 1)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]float64, len(x.Data)/2)
	tensor.Decode(tensor.F16, all, x.Data)
	for i, v := range all {
		if gap := i%5 >= 2; gap != math.IsNaN(v) {
			t.Errorf("place %d holds %v", i, v)
		}
	}
}

// The promise of "large": an FP16 kernel that sums in FP32 passes, one that sums in
// FP16 does not. By the table of the type, and by the user's tolerances.
func TestLargeTellsAccumulatorsApart(t *testing.T) {
	const rows, columns = 16, 24
	tolerances := map[string]suite.Tolerance{"default": {}, "2e-3/1e-3": {Atol: new(2e-3), Rtol: new(1e-3)}}
	for _, k := range []int{64, 512, 2048} {
		a := fill(t, tensor.Argument{Name: "a", DType: tensor.F16, Shape: []int{rows, k}}, Large, 11)
		b := fill(t, tensor.Argument{Name: "b", DType: tensor.F16, Shape: []int{columns, k}}, Large, 11)
		want, single, half := make([]float64, rows*columns), make([]float64, rows*columns), make([]float64, rows*columns)
		for i := range rows {
			for j := range columns {
				var s64, s16 float64
				var s32 float32
				for l := range k {
					x, y := a[i*k+l], b[j*k+l]
					s64 += x * y
					s32 += float32(x) * float32(y)
					s16 = tensor.F16.Round(s16 + tensor.F16.Round(x*y))
				}
				want[i*columns+j], single[i*columns+j], half[i*columns+j] = s64, float64(s32), s16
			}
		}
		for name, tolerance := range tolerances {
			r := RulesFor(tolerance, tensor.F16, false)
			if c := Compare(Sides{Want: of(tensor.F64, want...), Got: of(tensor.F16, single...)}, r); !c.OK {
				t.Errorf("K=%d, %s: sums in FP32 fail: %s", k, name, c.Sentence())
			}
			if c := Compare(Sides{Want: of(tensor.F64, want...), Got: of(tensor.F16, half...)}, r); c.OK {
				t.Errorf("K=%d, %s: sums in FP16 pass", k, name)
			}
		}
	}
}

func BenchmarkInputs(b *testing.B) {
	for _, d := range []tensor.DType{tensor.F16, tensor.BF16, tensor.E4M3, tensor.F32, tensor.I32} {
		for _, kind := range []string{Normal, Large, EqualRows} {
			b.Run(string(d)+"/"+kind, func(b *testing.B) {
				a := tensor.Argument{Name: "x", DType: d, Shape: []int{64, 1 << 16}}
				b.SetBytes(int64(d.Size()) << 22)
				for b.Loop() {
					if _, err := Fill(a, kind, 1); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
