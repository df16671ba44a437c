package lab

import (
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/stats"
)

// The promises of the tuner, over the spaces on which every anchor was measured.
var tunePromises = []struct {
	evaluations int
	least       float64
}{{50, 0.93}, {100, 0.97}, {200, 0.985}}

// tuneClaims returns the claims for which the report has figures. Nothing is promised on generated spaces.
func tuneClaims(r *TuneReport) []Claim {
	var list []Claim
	add := func(c Claim) {
		c.judge(false)
		list = append(list, c)
	}
	if n := len(r.Common); n > 0 && r.covers(r.Common) {
		for _, p := range tunePromises {
			if mean, ok := meanOver(defaultStrategy, p.evaluations, r.Common, r.Rows); ok {
				add(Claim{Text: fmt.Sprintf("fraction of the optimum after %d evaluations, mean over %d spaces", p.evaluations, n), Limit: p.least, Least: true, Value: mean})
			}
		}
		add(Claim{Text: "spaces on which another tool is better after 100 evaluations", Limit: 0, Value: float64(len(r.Behind()))})
	}
	if r.Quick() {
		return list
	}
	if len(r.Costs) > 0 {
		var needed []float64
		for _, c := range r.Costs {
			needed = append(needed, c.Seconds)
		}
		add(Claim{Text: "seconds to reach what random search reaches in an hour, median over spaces", Limit: sixMin, Value: stats.Median(needed), Unit: "s"})
	}
	if len(r.Noises) > 0 {
		var drop, within float64
		for _, n := range r.Noises {
			drop += (n.Quiet - n.Chosen.Mean) / float64(len(r.Noises))
			within += n.Chosen.Within / float64(len(r.Noises))
		}
		add(Claim{Text: "loss by noise, in fractions of the optimum", Limit: 0.01, Value: drop})
		add(Claim{Text: "share of noisy searches whose choice is within 1 % of the best they evaluated", Limit: 0.95, Least: true, Value: within})
	}
	if len(r.Transfer) > 0 {
		gain, worse := 0.0, 0
		for _, x := range r.Transfer {
			gain += (x.Warm20 - x.Cold60) / float64(len(r.Transfer))
			if x.Warm100 < x.Cold100-transferSlack {
				worse++
			}
		}
		add(Claim{Text: "20 evaluations with a warm start over 60 without, mean over pairs", Limit: 0, Least: true, Value: gain})
		add(Claim{Text: "pairs that are worse with a warm start after 100 evaluations", Limit: 0, Value: float64(worse)})
	}
	return list
}

// transferSlack is how much two means of a hundred repeats may differ by chance.
const transferSlack = 0.005

// covers reports whether the lead strategy searched all of these spaces.
func (r *TuneReport) covers(spaces []string) bool {
	for _, space := range spaces {
		if !slices.ContainsFunc(r.Rows, func(x TuneRow) bool { return x.Space == space && x.Strategy == defaultStrategy }) {
			return false
		}
	}
	return true
}

// meanOver returns the mean of a strategy over spaces; false unless it has a value for all of them.
func meanOver(strategy string, evaluations int, spaces []string, rows []TuneRow) (float64, bool) {
	sum, n := 0.0, 0
	for _, x := range rows {
		if x.Strategy != strategy || !slices.Contains(spaces, x.Space) {
			continue
		}
		if v, ok := x.At(evaluations); ok {
			sum += v
			n++
		}
	}
	return sum / float64(max(n, 1)), n == len(spaces) && n > 0
}

// SpaceBehind is a space on which a strategy of another tool is better.
type SpaceBehind struct {
	Space, Anchor string
	Own, Other    float64 // after 100 evaluations
}

// Behind returns the spaces on which an anchor is better after 100 evaluations. Random search and the
// prototype that came with the anchors do not count as other tools.
func (r *TuneReport) Behind() []SpaceBehind {
	var list []SpaceBehind
	for _, own := range r.Rows {
		v, ok := own.At(100)
		if own.Strategy != defaultStrategy || !ok {
			continue
		}
		worst := SpaceBehind{Space: own.Space, Own: v, Other: v}
		for _, a := range r.Anchors {
			if a.Space != own.Space || a.Strategy == "proto_gp_ei" || a.Strategy == "random_uniform_ok_only" {
				continue
			}
			if x, ok := a.At(100); ok && x > worst.Other {
				worst.Anchor, worst.Other = a.Strategy, x
			}
		}
		if worst.Anchor != "" {
			list = append(list, worst)
		}
	}
	return list
}
