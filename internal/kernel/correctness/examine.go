package correctness

import (
	"context"
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// CompareWithReference compares the outputs of a run with the reference's result for the same inputs.
// An error comes from the reference and says nothing about the run.
func CompareWithReference(ctx context.Context, r Reference, t Task, got []tensor.Tensor, tolerance suite.Tolerance) ([]Comparison, error) {
	right, err := expectedOf(ctx, r, t, tolerance, suite.ConfigName(t.Params))
	if err != nil {
		return nil, err
	}
	return compareOutputs(t, got, right, tolerance, nil), nil
}

// expectedOf asks the reference and rejects a reply that does not fit the request, so that
// the kernel is not blamed for it. The argument about names the request in messages.
func expectedOf(ctx context.Context, r Reference, t Task, tolerance suite.Tolerance, about string) (Expected, error) {
	// Without an explicit tolerance, the type and the presence of a naive result decide.
	naive := tolerance.Flash != nil || tolerance == (suite.Tolerance{})
	right, err := r.Compute(ctx, t, naive)
	if err != nil {
		return right, err
	}
	for _, a := range outputs(t.Arguments) {
		want := tensor.Find(right.Want, a.Name)
		switch {
		case want == nil:
			return right, fmt.Errorf("the reference returns no %q for %s", a.Name, about)
		case !slices.Equal(want.ValueShape(), a.DType.ValueShape(a.Shape)):
			return right, fmt.Errorf("the reference returns %q with shape %v for %s, but the suite says %v", a.Name, want.ValueShape(), about, a.DType.ValueShape(a.Shape))
		case tolerance.Flash != nil && tensor.Find(right.Naive, a.Name) == nil:
			return right, fmt.Errorf("tolerance.flash needs a naive result of %q, but the reference returns none: add one to the oracle, or use atol and rtol", a.Name)
		}
	}
	return right, nil
}

// compareOutputs applies the rules to all outputs of a run. Poison is the seed of their
// previous content; nil if it is unknown.
func compareOutputs(task Task, got []tensor.Tensor, right Expected, tolerance suite.Tolerance, poison *uint64) []Comparison {
	var list []Comparison
	for _, a := range outputs(task.Arguments) {
		t := tensor.Find(got, a.Name)
		if t == nil {
			list = append(list, Comparison{Output: a.Name, Failed: RuleShape, Problem: "the kernel returns no such output", Rules: []RuleResult{{Rule: RuleShape}}})
			continue
		}
		sides := Sides{Want: *tensor.Find(right.Want, a.Name), Got: *t, Naive: tensor.Find(right.Naive, a.Name)}
		if a.Role == tensor.Out {
			sides.Poison = poison
		}
		if stored(t.DType) != stored(a.DType) {
			list = append(list, Comparison{Output: a.Name, Failed: RuleShape, Problem: fmt.Sprintf("its type is %s, but the suite says %s", t.DType, a.DType), Rules: []RuleResult{{Rule: RuleShape}}})
			continue
		}
		sides.Got.DType = a.DType // TF32 is stored as F32
		list = append(list, Compare(sides, RulesFor(tolerance, a.DType, sides.Naive != nil)))
	}
	return list
}

func stored(d tensor.DType) tensor.DType {
	if d == tensor.TF32 {
		return tensor.F32
	}
	return d
}
