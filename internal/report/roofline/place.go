package roofline

import (
	"math"
	"slices"

	"github.com/goatnote-inc/pawl/internal/base/chart"
)

// rect is a box in a drawing.
type rect struct{ x, y, width, height float64 }

func (r rect) overlaps(o rect) bool {
	return r.x < o.x+o.width && o.x < r.x+r.width && r.y < o.y+o.height && o.y < r.y+r.height
}

func (r rect) holds(o rect) bool {
	return o.x >= r.x && o.y >= r.y && o.x+o.width <= r.x+r.width && o.y+o.height <= r.y+r.height
}

func (r rect) wider(by float64) rect {
	return rect{r.x - by, r.y - by, r.width + 2*by, r.height + 2*by}
}

// crossedBy reports whether a line crosses the box.
func (r rect) crossedBy(a, b chart.Point) bool {
	low, high := 0.0, 1.0
	for _, side := range []struct{ from, step, least, most float64 }{
		{a.X, b.X - a.X, r.x, r.x + r.width}, {a.Y, b.Y - a.Y, r.y, r.y + r.height},
	} {
		if side.step == 0 {
			if side.from < side.least || side.from > side.most {
				return false
			}
			continue
		}
		enter, leave := (side.least-side.from)/side.step, (side.most-side.from)/side.step
		low, high = max(low, min(enter, leave)), min(high, max(enter, leave))
	}
	return low < high
}

// placer positions labels. Labels never cover each other or a dot, and cross lines only if
// there is no better position.
type placer struct {
	within rect
	taken  []rect
	lines  []obstacle
}

// obstacle is a line that labels avoid.
type obstacle struct {
	from, to chart.Point
	cost     float64 // cost of crossing it, as pixels of extra distance from the dot
}

// nearest is the min distance of a label from the center of its dot.
const nearest = 5.0

// put reserves the best position for a box beside a point. It returns false if there is
// none.
func (p *placer) put(at chart.Point, width, height float64) (rect, bool) {
	best, cost := rect{}, math.Inf(1)
	for ring := range 24 {
		away := nearest + float64(ring*ring)*0.5 + float64(ring)*3
		if away > cost {
			break // the rest is worse
		}
		for turn := range 24 {
			sin, cos := math.Sincos(float64(turn) * math.Pi / 12)
			box := rect{at.X + cos*(away+width/2) - width/2, at.Y - sin*(away+height/2) - height/2, width, height}
			if price := away + p.cost(box, turn); price < cost {
				best, cost = box, price
			}
		}
	}
	if math.IsInf(cost, 1) {
		return rect{}, false
	}
	p.taken = append(p.taken, best)
	return best, true
}

// cost is infinite for a position that is taken. It is lowest to the right of the dot,
// where readers look first.
func (p *placer) cost(box rect, turn int) float64 {
	if !p.within.holds(box) {
		return math.Inf(1)
	}
	for _, other := range p.taken {
		if box.wider(1.5).overlaps(other) {
			return math.Inf(1)
		}
	}
	price := 0.15 * math.Min(float64(turn), float64(24-turn))
	for _, l := range p.lines {
		if box.wider(1).crossedBy(l.from, l.to) {
			price += l.cost
		}
	}
	return price
}

// block reserves space that is not for a label.
func (p *placer) block(boxes ...rect) { p.taken = append(p.taken, boxes...) }

// free reports whether nothing overlaps the boxes.
func (p *placer) free(boxes ...rect) bool {
	for _, b := range boxes {
		if slices.ContainsFunc(p.taken, b.overlaps) {
			return false
		}
	}
	return true
}

// avoid adds a line that labels avoid.
func (p *placer) avoid(from, to chart.Point, cost float64) {
	p.lines = append(p.lines, obstacle{from, to, cost})
}
