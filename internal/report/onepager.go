package report

import (
	"cmp"
	"fmt"
	"image/png"
	"io"
	"math"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/ratchet"
)

// OnePager writes what profiles show about one case as an image for a pull request, 1200
// pixels wide and legible at half that size. It shows the verdict, the cause, what changed,
// warp stalls, the roofline and the first thing to try. It omits what is not known.
func OnePager(w io.Writer, why Why) error {
	d := newOnePager(why)
	c := newCanvas(int(math.Ceil(d.height*2)), paper)
	d.paint(c, 0, 0, 2)
	if err := png.Encode(w, c.RGBA); err != nil {
		return fmt.Errorf("cannot write one-pager of %s: %w", words.SanitizeTo(why.Case, words.NameLength), err)
	}
	return nil
}

// Page layout in drawing units.
const (
	pagerWidth  = 600.0
	pagerMargin = 26.0
	pagerInner  = pagerWidth - 2*pagerMargin
	columnGap   = 28.0
	columnWidth = (pagerInner - columnGap) / 2
	blockGap    = 20.0
)

func newOnePager(why Why) *drawing {
	r := why.reason()
	d := &drawing{width: pagerWidth}
	y := d.pagerHead(r, why)
	left := blocks{r.changesBlock(columnWidth)}
	right := blocks{}
	switch {
	case r.Stalls != nil:
		left, right = append(left, r.fixBlock(columnWidth)), append(right, r.stallsBlock(columnWidth))
	case len(r.Rows) == 0:
		left = blocks{r.fixBlock(pagerInner)}
	case len(r.Fixes) > 0:
		right = append(right, r.fixBlock(columnWidth))
	default:
		left = blocks{r.changesBlock(pagerInner)}
	}
	if left.height() > 0 || right.height() > 0 {
		left.put(d, pagerMargin, y)
		right.put(d, pagerMargin+columnWidth+columnGap, y)
		y += max(left.height(), right.height()) + blockGap
	}
	if r.Roofline != nil {
		roof := r.roofBlock(pagerInner)
		d.include(roof, pagerMargin, y)
		y += roof.height + blockGap
	}
	d.pagerFoot(r, why, y)
	return d
}

// blocks are stacked vertically. Empty blocks use no space.
type blocks []*drawing

func (b blocks) height() float64 {
	total := 0.0
	for _, d := range b {
		if d.height > 0 {
			total += d.height + blockGap
		}
	}
	return max(total-blockGap, 0)
}

func (b blocks) put(on *drawing, x, y float64) {
	for _, d := range b {
		if d.height > 0 {
			on.include(d, x, y)
			y += d.height + blockGap
		}
	}
}

// pagerHead draws the case, the verdict and the sentence. It returns the y position of the
// rest.
func (d *drawing) pagerHead(r Reason, why Why) float64 {
	fill := verdictTone(r.Verdict)
	d.bar(fill, 0, 0, pagerWidth, 5)
	change := word{text: cmp.Or(r.Change, timeChange(why)), bold: true, large: 18, anchor: atEnd}
	change.text = elideMiddleAt(bold, 18, drawable(change.text), pagerInner/2)
	d.write(fill, point{pagerWidth - pagerMargin, 36}, change)
	name := word{bold: true, large: 18}
	name.text = elideMiddleAt(bold, 18, drawable(cmp.Or(r.Case, "kernel")), pagerInner-change.width()-16)
	d.write(toneInk, point{pagerMargin, 36}, name)

	y := 53.0
	if text := subtitle(r, why); text != "" {
		d.write(toneSoft, point{pagerMargin, y}, word{text: elideMiddleAt(regular, em, drawable(text), pagerInner)})
		y += 8
	}
	for _, text := range lines(14, drawable(r.Sentence), pagerInner, 5) {
		y += 19
		d.write(toneInk, point{pagerMargin, y}, word{text: text, large: 14})
	}
	y += 14
	d.line(toneLine, 1, point{pagerMargin, y}, point{pagerWidth - pagerMargin, y})
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

func verdictTone(v ratchet.Verdict) tone {
	switch classOf(v) {
	case ClassBroken, ClassRegressed, ClassMissing:
		return toneBad
	case ClassImproved:
		return toneGood
	case ClassInconclusive, ClassNew, ClassUnchanged, ClassMeasured:
	}
	return toneBase
}

// pagerFoot names the source of the numbers.
func (d *drawing) pagerFoot(r Reason, why Why, y float64) {
	d.line(toneLine, 1, point{pagerMargin, y}, point{pagerWidth - pagerMargin, y})
	var text []string
	if commit := commitIn(why.Before); commit != "" {
		text = append(text, "base "+commit)
	}
	if commit := commitIn(why.After); commit != "" {
		text = append(text, "candidate "+commit)
	}
	y += 4
	about := lines(emSmall, drawable(r.About), pagerInner, 2)
	for _, l := range append(about, strings.Join(append(text, "made by pawl"), " · ")) {
		y += 13
		d.write(toneSoft, point{pagerMargin, y}, word{text: l, small: true})
	}
	d.height = y + 16
}
