package trend

import "slices"

// part is a stretch of a history of logarithms that a level or a straight line describes.
type part struct {
	from   int // index of its first value in the history
	y      []float64
	sloped bool

	mean, slope, mid float64 // the line is mean + slope*(x - mid), with x counted from the first value
	rss              float64 // sum of squared residuals
}

func newPart(y []float64, from int, sloped bool) part {
	p := part{from: from, y: y, sloped: sloped, mid: float64(len(y)-1) / 2}
	n := float64(len(y))
	for _, v := range y {
		p.mean += v - y[0] // small numbers keep their digits
	}
	p.mean = y[0] + p.mean/n
	var xy float64
	for i, v := range y {
		xy += (float64(i) - p.mid) * (v - p.mean)
		p.rss += (v - p.mean) * (v - p.mean)
	}
	if sloped && len(y) > 2 {
		p.slope = xy / spreadOf(n)
		p.rss = max(0, p.rss-p.slope*xy)
	}
	return p
}

// spreadOf returns the sum of the squared distances of 0 to n-1 from their mean.
func spreadOf(n float64) float64 { return n * (n*n - 1) / 12 }

// line returns the value of the line at x.
func (p part) line(x int) float64 { return p.mean + p.slope*(float64(x)-p.mid) }

// candidate is a change that may divide a part: a step at its value at, or a bend there, after which the
// line has another slope.
type candidate struct {
	bend bool
	at   int
	size float64 // of the step, or of the bend per value
	gain float64 // by how much it lowers rss
	regressor
}

// regressor is the form of a candidate, 0 before it and 1 (or 1, 2, 3 and so on) from it on, without
// what the line of the part describes already.
type regressor struct{ mean, slope, norm float64 }

func newRegressor(n, k float64, bend, sloped bool) regressor {
	m := n - k
	sum, squares, cross := m, m, m*k/2 // cross: with the distance from the middle
	if bend {
		sum, squares = m*(m-1)/2, (m-1)*m*(2*m-1)/6
		cross = sum*(k-(n-1)/2) + squares
	}
	r := regressor{mean: sum / n, norm: squares - sum*sum/n}
	if sloped {
		spread := spreadOf(n)
		r.slope = cross / spread
		r.norm -= cross * cross / spread
	}
	return r
}

// value returns the regressor at x.
func (c candidate) value(p part, x int) float64 {
	z := 0.0
	if x >= c.at {
		z = 1
		if c.bend {
			z = float64(x - c.at)
		}
	}
	return z - c.mean - c.slope*(float64(x)-p.mid)
}

// minBend is the min number of values after a bend. Fewer cannot be told from a step.
const minBend = 8

// candidates returns the step and the bend that explain most of a part. Sums over the values from each
// position to the end give all positions in one pass.
func (p part) candidates() (step, bend candidate) {
	n := float64(len(p.y))
	perValue, perSpread := 1/n, 0.0
	if p.sloped {
		perSpread = 1 / spreadOf(n)
	}
	steps, bends := best{norm: 1}, best{norm: 1}
	var sum, weighted float64 // of the residuals from k on: plain, and times their distance from k
	for k, v := range slices.Backward(p.y) {
		weighted += sum
		sum += v - p.line(k)
		m, before := n-float64(k), float64(k)
		if k > 0 {
			cross := m * before / 2
			steps.consider(k, sum, m-m*m*perValue-cross*cross*perSpread)
		}
		if m >= minBend {
			first, squares := m*(m-1)/2, (m-1)*m*(2*m-1)/6
			cross := first*(before-p.mid) + squares
			bends.consider(k, weighted, squares-first*first*perValue-cross*cross*perSpread)
		}
	}
	return steps.candidate(p, false), bends.candidate(p, true)
}

// best is the position with the largest gain so far, which is product*product/norm.
type best struct {
	at            int
	product, norm float64
}

func (b *best) consider(k int, product, norm float64) {
	if norm > 1e-6 && product*product*b.norm > b.product*b.product*norm {
		*b = best{k, product, norm}
	}
}

func (b best) candidate(p part, bend bool) candidate {
	c := candidate{bend: bend, at: b.at, size: b.product / b.norm, gain: b.product * b.product / b.norm}
	c.regressor = newRegressor(float64(len(p.y)), float64(b.at), bend, p.sloped)
	return c
}
