package report

import (
	"fmt"
	"html/template"
	"math"

	"github.com/goatnote-inc/pawl/internal/base/chart"
)

// effectScale returns the change at the edge of an interval plot: a round number that
// leaves space for the changes and for the limit. It is capped, so that a few huge changes
// do not flatten all others.
func effectScale(cases []Case, limit float64) float64 {
	need := max(2*limit, 0.04)
	for _, c := range cases {
		if c.Effect != nil {
			need = max(need, math.Abs(c.Effect.At)*1.1)
		}
	}
	for _, scale := range []float64{0.05, 0.1, 0.15, 0.2, 0.3} {
		if need <= scale {
			return scale
		}
	}
	return 0.3
}

// effectAxis is the axis that the small interval plots of a section share, so that they are
// comparable.
type effectAxis struct {
	class Class
	x     chart.Scale
	limit float64
	none  bool // no case has a change to draw
}

func newEffectAxis(s Section, limit float64) effectAxis {
	edge := effectScale(s.Cases, limit)
	a := effectAxis{class: s.Class, x: chart.Scale{Low: -edge, High: edge, From: 6, To: effectWidth - 6}, limit: limit, none: true}
	for _, c := range s.Cases {
		a.none = a.none && c.Effect == nil
	}
	return a
}

// Scale describes the range of the plots; empty if there are none.
func (a effectAxis) Scale() string {
	if a.none {
		return ""
	}
	return fmt.Sprintf("±%.0f %%", 100*a.x.High)
}

const effectWidth, effectHeight = 176.0, 18.0

// Drawing renders the axis, once for all plots: the solid line is no change, the dashed
// line the limit. Right is worse.
func (a effectAxis) Drawing() template.HTML {
	if a.none {
		return ""
	}
	s := chart.NewSVG("none", effectWidth, effectHeight)
	s.Addf(`<g id="axis-%s">`, a.class)
	s.Path("zero", chart.Move(effectWidth/2, 0)+"V18")
	if a.limit > 0 && a.limit < a.x.High {
		s.Path("limit", chart.Move(a.x.Within(a.limit), 0)+"V18")
	}
	s.Addf("</g>")
	return s.HTML()
}

// effect draws a change with its interval. Its text is next to it, in the column of
// changes.
func (a effectAxis) effect(e Effect) template.HTML {
	s := chart.NewSVG("", effectWidth, effectHeight)
	s.Addf(`<use href="#axis-%s"/>`, a.class)
	low, high := a.x.Within(e.Low), a.x.Within(e.High)
	if e.High > e.Low {
		high = max(high, low+2)
		s.Path("bar", chart.Box(low, 5, high, 13))
	}
	switch {
	case e.At > a.x.High:
		s.Path("dot", chart.Move(effectWidth, 9)+"l-8-5v10z")
	case e.At < a.x.Low:
		s.Path("dot", chart.Move(0, 9)+"l8-5v10z")
	default:
		s.Path("dot", chart.Move(a.x.Within(e.At)-1, 2)+"h2v14h-2z")
	}
	return s.HTML()
}
