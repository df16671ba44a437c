package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/chart"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
)

// OnePager writes what profiles show about one case as an image for a pull request, 1200
// pixels wide and legible at half that size. It shows the verdict, the cause, what changed,
// warp stalls, the roofline and the first thing to try. It omits what is not known.
func OnePager(w io.Writer, why Why) error {
	if err := newOnePager(why).PNG(w); err != nil {
		return fmt.Errorf("cannot write one-pager of %s: %w", words.SanitizeTo(why.Case, words.NameLength), err)
	}
	return nil
}

// Layout of the one-pager.
const (
	pagerMargin = 26.0
	pagerInner  = pictureWidth - 2*pagerMargin
	columnGap   = 28.0
	columnWidth = (pagerInner - columnGap) / 2
	blockGap    = 20.0
)

func newOnePager(why Why) *chart.Drawing {
	r := why.reason()
	d := chart.New(pictureWidth, 0)
	y := pagerHead(d, r, why)
	left, right := r.changesBlock(columnWidth), chart.New(0, 0)
	switch {
	case r.Stalls != nil:
		left, right = stack(left, r.fixBlock(columnWidth)), r.stallsBlock(columnWidth)
	case len(r.Rows) == 0:
		left = r.fixBlock(pagerInner)
	case len(r.Fixes) > 0:
		right = r.fixBlock(columnWidth)
	default:
		left = r.changesBlock(pagerInner)
	}
	if tall := max(left.Height, right.Height); tall > 0 {
		d.Include(left, pagerMargin, y)
		d.Include(right, pagerMargin+columnWidth+columnGap, y)
		y += tall + blockGap
	}
	if r.Roofline != nil {
		roof := r.roofBlock(pagerInner)
		d.Include(roof, pagerMargin, y)
		y += roof.Height + blockGap
	}
	pagerFoot(d, r, why, y)
	return d
}

// stack puts blocks below each other. An empty block uses no space.
func stack(upper, lower *chart.Drawing) *chart.Drawing {
	if upper.Height == 0 || lower.Height == 0 {
		lower.Include(upper, 0, 0)
		lower.Height += upper.Height
		return lower
	}
	upper.Include(lower, 0, upper.Height+blockGap)
	upper.Height += blockGap + lower.Height
	return upper
}

// pagerHead draws the case, the verdict and the sentence. It returns the y position of the
// rest.
func pagerHead(d *chart.Drawing, r Reason, why Why) float64 {
	tone := toneOf(r.Verdict)
	d.Bar(tone, 0, 0, pictureWidth, 5)
	change := chart.Label{Text: cmp.Or(r.Change, timeChange(why)), Align: chart.End, Bold: true, Size: 18}.Fit(pagerInner / 2)
	d.Print(tone, chart.At(pictureWidth-pagerMargin, 36), change)
	name := chart.Label{Text: cmp.Or(r.Case, "kernel"), Align: chart.Start, Bold: true, Size: 18, Most: pagerInner - change.Width() - 16}
	d.Print(chart.Ink, chart.At(pagerMargin, 36), name)

	y := 53.0
	if text := subtitle(r, why); text != "" {
		d.Print(chart.Soft, chart.At(pagerMargin, y), chart.Label{Text: text, Align: chart.Start, Heading: true, Most: pagerInner})
		y += 8
	}
	y = 14 + d.PrintLines(chart.Ink, chart.At(pagerMargin, y), 19, chart.Lines(14, r.Sentence, pagerInner, 5), chart.Label{Align: chart.Start, Size: 14})
	d.Line(chart.Rule, 1, chart.At(pagerMargin, y), chart.At(pictureWidth-pagerMargin, y))
	return y + 16
}

// subtitle returns the verdict, the times and the kernel.
func subtitle(r Reason, why Why) string {
	var parts []string
	if r.Verdict != "" {
		parts = append(parts, string(r.Verdict))
	}
	if diff := why.Difference; diff != nil && diff.Before > 0 && diff.After > 0 {
		parts = append(parts, words.Quantity(diff.Before, "ns")+" → "+words.Quantity(diff.After, "ns"))
	}
	if why.After != nil && why.After.Launch.Kernel != "" {
		parts = append(parts, words.SanitizeTo(why.After.Launch.Kernel, words.NameLength))
	}
	return strings.Join(parts, " · ")
}

// timeChange returns the change that the profiles show; used without a verdict.
func timeChange(why Why) string {
	if diff := why.Difference; diff != nil && diff.Before > 0 && diff.After > 0 {
		return words.Change(diff.After / diff.Before)
	}
	if why.Diagnosis == nil {
		return ""
	}
	switch b := why.Diagnosis.Bottleneck; b {
	case diagnose.Memory, diagnose.Compute, diagnose.Latency, diagnose.Launch, diagnose.Occupancy:
		return "limited by " + string(b)
	case diagnose.Balanced:
		return string(b)
	case diagnose.Unknown:
	}
	return ""
}

// pagerFoot names the source of the numbers.
func pagerFoot(d *chart.Drawing, r Reason, why Why, y float64) {
	d.Line(chart.Rule, 1, chart.At(pagerMargin, y), chart.At(pictureWidth-pagerMargin, y))
	var text []string
	if commit := commitIn(why.Before); commit != "" {
		text = append(text, "base "+commit)
	}
	if commit := commitIn(why.After); commit != "" {
		text = append(text, "candidate "+commit)
	}
	about := append(chart.Lines(chart.SmallText, r.About, pagerInner, 2), strings.Join(append(text, "made by pawl"), " · "))
	d.Height = 16 + d.PrintLines(chart.Soft, chart.At(pagerMargin, y+4), 13, about, chart.Label{Align: chart.Start})
}
