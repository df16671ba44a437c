package correctness

import (
	"fmt"
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/internal/kernel/tensor"
)

// Comparison is the result of comparing an output with the correct result.
type Comparison struct {
	Output    string       `json:"output"`
	OK        bool         `json:"ok"`
	Failed    RuleName     `json:"failed,omitempty"` // the most serious rule that does not hold
	Rules     []RuleResult `json:"rules"`            // all rules that were applied
	Elements  int          `json:"elements"`
	Wrong     int          `json:"wrong"`               // number of elements that an element rule rejects
	Unwritten int          `json:"unwritten,omitempty"` // how many of them still hold the poison
	Worst     Element      `json:"worst"`
	MaxAbs    float64      `json:"max_abs"` // over elements where both are finite
	MaxRel    float64      `json:"max_rel"`
	MaxULP    float64      `json:"max_ulp"`
	Problem   string       `json:"problem,omitempty"` // why nothing could be compared
	Slack     Slack        `json:"-"`
}

// Slack is the error that the rules allow per element of an output, as a root mean square over
// many elements: Abs, plus Rel times the root mean square of the elements.
type Slack struct{ Abs, Rel float64 }

// Widest returns the larger value of each field.
func (s Slack) Widest(t Slack) Slack { return Slack{max(s.Abs, t.Abs), max(s.Rel, t.Rel)} }

// slack returns the error that one comparison allowed.
func (w *walk) slack(r Rules, flash float64) Slack {
	switch {
	case r.Close != nil:
		return Slack{Abs: w.atol, Rel: w.rtol + math.Sqrt(1-r.Close.Matched)}
	case r.Flash != nil:
		return Slack{Abs: flash}
	case r.Cosine != nil: // |x-y|^2 <= limit * (|x|^2+|y|^2), and all of it may be in one block
		return Slack{Rel: math.Sqrt(2 * *r.Cosine * harness.SumBlocks)}
	default:
		return Slack{Abs: math.Inf(1)}
	}
}

// RuleName names a rule in results.
type RuleName string

// Rules, in the order in which they are reported.
const (
	RuleShape     RuleName = "shape"     // the output exists, with the right type and shape
	RuleGaps      RuleName = "gaps"      // nothing is written in the gaps between elements
	RuleUnwritten RuleName = "unwritten" // every element is written
	RuleNaN       RuleName = "nan"       // NaN where the reference has it, and nowhere else
	RuleInfinity  RuleName = "infinity"  // the same, with the sign
	RuleClose     RuleName = "close"     // atol and rtol; its value is the fraction of elements within them
	RuleFlash     RuleName = "flash"     // the largest error compared with that of the naive computation
	RuleCosine    RuleName = "cosine"    // the difference in direction
)

// RuleResult is a rule with its value and its limit.
type RuleResult struct {
	Rule  RuleName `json:"rule"`
	OK    bool     `json:"ok"`
	Value float64  `json:"value"`
	Limit float64  `json:"limit"`
}

// Element is one element of an output. Numbers are text in JSON, which has no NaN.
type Element struct {
	Position int    `json:"position"` // in row-major order
	Index    []int  `json:"index"`
	Want     Number `json:"want"`
	Got      Number `json:"got"`
	Error    Number `json:"error"`
	Allowed  Number `json:"allowed"` // max error by the element rule; 0 without one
}

// Sides holds the two or three tensors to compare, all of the same shape.
type Sides struct {
	Want  tensor.Tensor  // of the output's values: F64, or what another implementation returns
	Got   tensor.Tensor  // in the output's type
	Naive *tensor.Tensor // the same computation, done naively in the output's type
	// Poison is the seed of the output's previous content, over its whole storage. It is
	// nil if that is unknown, or if the kernel also reads the output.
	Poison *uint64
}

// Compare applies the rules to an output.
func Compare(s Sides, r Rules) Comparison {
	c := Comparison{Output: s.Got.Name, Elements: s.Got.Len()}
	if c.Problem = s.problem(r); c.Problem != "" {
		c.Failed, c.Rules = RuleShape, []RuleResult{{Rule: RuleShape}}
		return c
	}
	w := newWalk(s, r)
	w.all()
	c.Wrong, c.Unwritten = w.misplacedNaN+w.misplacedInf, w.unwritten
	c.MaxAbs, c.MaxRel, c.MaxULP = w.maxAbs, w.maxRel, w.maxULP
	c.Worst = w.worst(s)

	if s.Poison != nil && !s.Got.IsContiguous() {
		c.add(RuleGaps, float64(w.gaps()), 0)
	}
	c.add(RuleUnwritten, float64(w.unwritten), 0)
	c.add(RuleNaN, float64(w.misplacedNaN), 0)
	c.add(RuleInfinity, float64(w.misplacedInf), 0)
	if r.Close != nil {
		c.Wrong += w.far
		fit := 1.0
		if c.Elements > 0 {
			fit = 1 - float64(w.far)/float64(c.Elements)
		}
		c.Rules = append(c.Rules, RuleResult{RuleClose, fit >= r.Close.Matched, fit, r.Close.Matched})
	}
	flash := 0.0
	if r.Flash != nil {
		flash = min(*r.Flash*w.naiveMax+step(s.Got.DType, w.largest+0.3), math.MaxFloat64)
		c.add(RuleFlash, w.maxAbs, flash)
	}
	c.Slack = w.slack(r, flash)
	if r.Cosine != nil {
		limit := *r.Cosine
		if r.Relative {
			limit = max(limit, 4*w.naiveDifference())
		}
		c.add(RuleCosine, w.difference(), limit)
	}
	c.OK = true
	for _, rule := range c.Rules {
		if !rule.OK {
			c.OK, c.Failed = false, rule.Rule
			break
		}
	}
	return c
}

func (c *Comparison) add(rule RuleName, value, limit float64) {
	c.Rules = append(c.Rules, RuleResult{rule, value <= limit, value, limit})
}

// problem returns why the sides cannot be compared, or "".
func (s Sides) problem(r Rules) string {
	for _, t := range []*tensor.Tensor{&s.Got, &s.Want, s.Naive} {
		if t == nil {
			continue
		}
		if err := t.Check(); err != nil {
			return err.Error()
		}
		if shape := t.ValueShape(); !slices.Equal(shape, s.Want.ValueShape()) {
			return fmt.Sprintf("%q has shape %v, but the reference has %v", t.Name, shape, s.Want.ValueShape())
		}
	}
	if r.Flash != nil && s.Naive == nil {
		return "the flash rule needs the result of a naive computation in the same type, but the reference returns none"
	}
	return ""
}

// step returns the distance between adjacent values of a type at a magnitude. It is the
// slack of the flash rule: twice the half step lost by adding and subtracting 0.3.
func step(d tensor.DType, x float64) float64 {
	if !d.IsFloat() {
		return 0
	}
	_, e := math.Frexp(max(x, d.SmallestNormal()))
	return d.Epsilon() * math.Ldexp(1, e-1)
}

// Sentence describes in one line what is wrong, or how close the output is.
func (c Comparison) Sentence() string {
	var rule RuleResult
	for _, r := range c.Rules {
		if r.Rule == c.Failed {
			rule = r
		}
	}
	at := fmt.Sprintf("element %d %v", c.Worst.Position, c.Worst.Index)
	values := fmt.Sprintf("%s is %v, expected %v", at, c.Worst.Got, c.Worst.Want)
	switch c.Failed {
	case "":
		return fmt.Sprintf("%s: correct, max error %.3g (%.0f ULP)", c.Output, c.MaxAbs, c.MaxULP)
	case RuleShape:
		return fmt.Sprintf("%s: %s", c.Output, c.Problem)
	case RuleGaps:
		return fmt.Sprintf("%s: the gaps between its strided elements were overwritten at %s", c.Output, words.Plural(int(rule.Value), "position"))
	case RuleUnwritten:
		return fmt.Sprintf("%s: %s was never written (%d of %d elements)", c.Output, at, c.Unwritten, c.Elements)
	case RuleNaN:
		return fmt.Sprintf("%s: NaN mismatch: %s (%.0f of %d elements)", c.Output, values, rule.Value, c.Elements)
	case RuleInfinity:
		return fmt.Sprintf("%s: infinity mismatch: %s (%.0f of %d elements)", c.Output, values, rule.Value, c.Elements)
	case RuleClose:
		return fmt.Sprintf("%s: %d of %d elements are off by more than the tolerance, the worst: %s (off by %v, allowed %v)", c.Output, c.Wrong, c.Elements, values, c.Worst.Error, c.Worst.Allowed)
	case RuleFlash:
		return fmt.Sprintf("%s: the max error %.3g is above %.3g, the limit from the naive computation: %s", c.Output, rule.Value, rule.Limit, values)
	case RuleDeterministic:
		return fmt.Sprintf("%s: two runs on the same inputs differ in %d of %d elements by up to %.3g, but the suite sets deterministic: bitwise: %s", c.Output, c.Wrong, c.Elements, c.MaxAbs, values)
	default:
		return fmt.Sprintf("%s: the difference in direction %.3g is above %.3g, the worst: %s", c.Output, rule.Value, rule.Limit, values)
	}
}
