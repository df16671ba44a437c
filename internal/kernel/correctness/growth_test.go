package correctness

import (
	"math"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// Why a fixed tolerance is not enough: the error of an honest sum grows with its
// length. The numbers of docs/explanation/correctness.md come from here (-v).
func TestErrorGrowsWithTheLengthOfASum(t *testing.T) {
	const rows, columns = 48, 64
	before := 0.0
	for _, k := range []int{64, 512, 4096} {
		a := fill(t, tensor.Argument{Name: "a", DType: tensor.F32, Shape: []int{rows, k}}, Normal, 3)
		b := fill(t, tensor.Argument{Name: "b", DType: tensor.F32, Shape: []int{columns, k}}, Normal, 3)
		want, got, blocked := make([]float64, rows*columns), make([]float64, rows*columns), make([]float64, rows*columns)
		for i := range rows {
			for j := range columns {
				var exact float64
				var plain float32
				var parts [16]float32
				for l := range k {
					exact += a[i*k+l] * b[j*k+l]
					plain += float32(a[i*k+l]) * float32(b[j*k+l])
					parts[l%16] += float32(a[i*k+l]) * float32(b[j*k+l])
				}
				var sum float32
				for _, p := range parts {
					sum += p
				}
				want[i*columns+j], got[i*columns+j], blocked[i*columns+j] = exact, float64(plain), float64(sum)
			}
		}
		w, naive := of(tensor.F64, want...), of(tensor.F32, got...)
		plain := closeTo[tensor.F32]
		table := Compare(Sides{Want: w, Got: naive}, Rules{Close: &plain})
		scaled := Compare(Sides{Want: w, Got: naive}, RulesFor(suite.Tolerance{}, tensor.F32, false))
		flash := Compare(Sides{Want: w, Got: of(tensor.F32, blocked...), Naive: &naive}, RulesFor(suite.Tolerance{}, tensor.F32, true))
		t.Logf("K=%d: rms %.1f, largest error %.2g, %d of %d elements outside the fixed table", k, rms(w), table.MaxAbs, table.Wrong, table.Elements)
		if table.MaxAbs <= before {
			t.Errorf("K=%d: the error %v does not grow", k, table.MaxAbs)
		}
		before = table.MaxAbs
		if wantWrong := k > 64; wantWrong == table.OK {
			t.Errorf("K=%d: the fixed table: %s", k, table.Sentence())
		}
		if !scaled.OK || !flash.OK {
			t.Errorf("K=%d: an honest sum fails: %s; %s", k, scaled.Sentence(), flash.Sentence())
		}
		// The same sum with TF32 inputs must not pass either.
		for i := range want {
			got[i] = want[i] + rms(w)*3e-4*math.Sin(float64(i))
		}
		if Compare(Sides{Want: w, Got: of(tensor.F32, got...)}, RulesFor(suite.Tolerance{}, tensor.F32, false)).OK ||
			Compare(Sides{Want: w, Got: of(tensor.F32, got...), Naive: &naive}, RulesFor(suite.Tolerance{}, tensor.F32, true)).OK {
			t.Errorf("K=%d: errors as of TF32 pass", k)
		}
	}
}
