package report

import (
	"fmt"
	"strconv"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/report/summary"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Numbers is a table: the first row holds the column names, the first cell of each other
// row its row name.
type Numbers struct {
	Head []string
	Rows [][]string
}

// referencesShown limits the columns for other implementations.
const referencesShown = 4

// numbersOf tabulates the two sides of a verdict and the references measured with them.
func numbersOf(f *ratchet.Facts, s summary.Case) Numbers {
	t := Numbers{Head: []string{"", measure.Base, measure.Candidate, "change"}}
	row := func(name string, base, now float64) {
		t.Rows = append(t.Rows, []string{name, words.Quantity(base, f.Unit), words.Quantity(now, f.Unit), signed(base, now)})
	}
	row("median", f.Base.Median, f.Now.Median)
	row("P95", f.Base.P95, f.Now.P95)
	row("P99", f.Base.P99, f.Now.P99)
	t.Rows = append(t.Rows,
		[]string{"spread (CV)", words.Percent(f.Base.CV), words.Percent(f.Now.CV), ""},
		[]string{"modes", strconv.Itoa(f.Base.Modes), strconv.Itoa(f.Now.Modes), ""})
	var base, now summary.Side
	references := 0
	for _, side := range s.Sides {
		switch side.Implementation {
		case measure.Base:
			base = side
		case measure.Candidate:
			now = side
		default:
			if references++; references > referencesShown || side.Samples == 0 {
				continue
			}
			t.Head = append(t.Head, words.SanitizeTo(side.Implementation, words.NameLength))
			for i, cell := range []string{words.Quantity(side.P50, f.Unit), words.Quantity(side.P95, f.Unit), words.Quantity(side.P99, f.Unit), words.Percent(side.CV), ""} {
				t.Rows[i] = append(t.Rows[i], cell)
			}
		}
	}
	work := func(name string, base, now float64) {
		if base > 0 && now > 0 {
			row := []string{name, words.Digits(base), words.Digits(now), signed(base, now)}
			t.Rows = append(t.Rows, append(row, make([]string, len(t.Head)-len(row))...))
		}
	}
	work("GFLOP/s", base.GFLOPS, now.GFLOPS)
	work("GB/s", base.GBs, now.GBs)
	return t
}

func signed(base, now float64) string {
	if !(base > 0 && now > 0) {
		return ""
	}
	return words.SignedPercent(now/base - 1)
}

// evidenceOf lists the statistics behind the verdict and the other checks made.
func evidenceOf(f *ratchet.Facts) []Fact {
	list := []Fact{{"measured", words.Plural(f.Rounds, "round") + ", " + pairings[f.Pairing]}}
	add := func(label, format string, args ...any) {
		list = append(list, Fact{label, fmt.Sprintf(format, args...)})
	}
	if f.Interval != nil {
		add("change, 95 % interval", "%s %% (%s to %s %%)", words.Signed(100*f.Change, 2), words.Signed(100*f.Interval.Low, 2), words.Signed(100*f.Interval.High, 2))
		add("spread of a round's difference", "%s", words.Percent(f.Spread))
	}
	if f.Detectable > 0 {
		add("would be found 19 times in 20", "%s or more", words.Percent(f.Detectable))
	}
	add("chance if nothing got worse", "%s", chance(f.Slower))
	add("chance if nothing got better", "%s", chance(f.Faster))
	add("chance if worse by the limit", "%s", chance(f.Kept))
	add("the smaller of the first two, for all cases", "%s (Holm)", chance(f.Holm))
	add("Cliff's delta", "%s (%s)", words.Signed(f.Delta, 2), f.Effect)
	add("not used for the verdict", "Wilcoxon %s, Mann-Whitney %s", chance(f.Wilcoxon), chance(f.MannWhitney))
	if f.Cycles != nil {
		add("change in clock cycles", "%s", words.SignedPercent(*f.Cycles))
	}
	return list
}

var pairings = map[ratchet.Pairing]string{
	ratchet.SideBySide:      "side by side",
	ratchet.Unpaired:        "not at the same time",
	ratchet.Stored:          "against a stored baseline",
	ratchet.StoredReference: "against a stored baseline, corrected by a reference",
}

// chance formats a probability with the digits that matter.
func chance(p float64) string {
	switch {
	case p < 1e-6:
		return "< 0.000001"
	case p < 0.001:
		return fmt.Sprintf("%.6f", p)
	default:
		return fmt.Sprintf("%.3f", p)
	}
}

// sideColumns are the columns for a side without a verdict.
var sideColumns = []string{"side", "P50", "P95", "P99", "CV", "GFLOP/s", "GB/s", "against", "over rounds"}

// sidesTable describes the sides of a case without a verdict.
func sidesTable(s summary.Case) Numbers {
	t := Numbers{Head: sideColumns}
	for _, side := range s.Sides {
		cells := row("", s.Unit, side)[1:]
		cells[0] = words.SanitizeTo(cells[0], words.NameLength)
		t.Rows = append(t.Rows, cells)
	}
	return t.dropEmpty()
}

// dropEmpty removes columns without content.
func (t Numbers) dropEmpty() Numbers {
	g := grid{right: make([]bool, len(t.Head)), rows: append([][]string{t.Head}, t.Rows...)}
	g.dropEmpty()
	return Numbers{Head: g.rows[0], Rows: g.rows[1:]}
}
