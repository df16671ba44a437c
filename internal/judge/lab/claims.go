package lab

import (
	"fmt"
	"slices"
)

// Claim is a promise about pawl's judge or tuner, with the measured value.
type Claim struct {
	Text  string  `json:"text"`
	Limit float64 `json:"limit"`
	Least bool    `json:"least,omitempty"` // the limit is a minimum, not a maximum
	Value float64 `json:"value"`
	Rate  *Rate   `json:"rate,omitempty"`  // set if the value is a share of trials
	Unit  string  `json:"unit"`            // %, rounds, commits, s, or empty for a plain number
	Error float64 `json:"error,omitempty"` // standard error, if the value is not a share
	Holds bool    `json:"holds"`
}

// suitePromise is what pawl promises about one kind of comparison.
type suitePromise struct {
	text  string // format with a %s for the kind
	limit float64
	least bool // the limit is a minimum, not a maximum
	count func(Tally) int
}

// pledge returns what is promised for a row, and the name of its kind; nil if nothing is promised.
func (r Row) pledge() (p *suitePromise, of string) {
	for _, k := range suiteKinds {
		if r.Corpus == Suite && r.Note == k.note() && r.Shape == k.Shape && r.Effect == k.Effect {
			return k.pledge, fmt.Sprintf("a run of %s, %s", r.Note, r.Shape)
		}
	}
	for _, k := range storedKinds {
		if r.Corpus == Stress && r.Note == k.note() && r.Effect == k.Effect && r.Method == onStored {
			return k.pledge, "stored baseline, " + r.Note
		}
	}
	return nil, ""
}

// judge decides whether a claim holds. A quick measurement refutes a claim only if its whole interval
// lies on the wrong side of the limit.
func (c *Claim) judge(quick bool) {
	low, high := c.Value, c.Value
	if quick {
		low, high = c.Value-2*c.Error, c.Value+2*c.Error
		if c.Rate != nil {
			low, high = c.Rate.Low, c.Rate.High
		}
	}
	c.Holds = low <= c.Limit
	if c.Least {
		c.Holds = high >= c.Limit
	}
}

// claims returns the claims for which the report has figures.
func claims(r *Report) []Claim {
	var list []Claim
	add := func(c Claim) {
		c.judge(r.Quick)
		list = append(list, c)
	}
	share := func(text string, limit float64, least bool, count, trials int) {
		rate := NewRate(count, trials)
		add(Claim{Text: text, Limit: limit, Least: least, Value: rate.Value, Rate: &rate, Unit: "%"})
	}
	for _, corpus := range []struct{ name, text string }{
		{Recorded, "false claims on recorded same-code pairs"},
		{Several, "false claims on recorded same-code sides of several rounds"},
	} {
		for _, row := range r.Rows {
			if row.Corpus == corpus.name && row.Method == "pawl" {
				add(Claim{Text: fmt.Sprintf("%s (%d)", corpus.text, row.Trials), Limit: 0, Value: float64(row.Regression + row.Improvement)})
			}
		}
	}
	for _, level := range []struct {
		spread, falsely, four, six, rounds float64
	}{
		{typical, 0.001, 0.98, 0.995, 10},
		{noisy, 0.002, 0, 0.99, 17},
	} {
		for _, shape := range Shapes {
			at := fmt.Sprintf("spread %s, %s", percent(level.spread), shape)
			row := func(effect float64) (Row, bool) { return r.find(Generated, "pawl", shape, level.spread, effect) }
			if same, ok := row(0); ok {
				share(at+": false regression", level.falsely, false, same.Regression, same.Trials)
				add(Claim{Text: at + ": rounds a side on same code", Limit: level.rounds, Value: same.MeanRounds(), Unit: "rounds"})
			}
			if slow, ok := row(0.04); ok && level.four > 0 {
				share(at+": 4 % slower found", level.four, true, slow.Regression, slow.Trials)
			}
			if slow, ok := row(0.06); ok {
				share(at+": 6 % slower found", level.six, true, slow.Regression, slow.Trials)
			}
		}
	}
	for _, c := range slices.Concat(machineClaims(r), creepClaims(r)) {
		add(c)
	}
	for _, row := range r.Rows {
		if p, of := row.pledge(); p != nil {
			share(fmt.Sprintf(p.text, of), p.limit, p.least, p.count(row.Tally), row.Trials)
		}
	}
	for _, c := range r.Curses {
		if c.Baseline == keepers[2].name {
			continue
		}
		at := fmt.Sprintf("after %d runs, baseline %s, %s", biasRuns, c.Baseline, c.Shape)
		add(Claim{Text: at + ": bias", Limit: 0.003, Value: max(c.Bias, -c.Bias), Error: c.BiasError, Unit: "%"})
		share(at+": false failures", 0.005, false, c.Gates.Regression, c.Gates.Trials)
	}
	if s := r.Speed; s != nil {
		add(Claim{Text: fmt.Sprintf("verdict on %d cases, 2 sides, %d rounds, %d samples", s.Cases, s.Rounds, s.Samples), Limit: 0.2, Value: s.Seconds, Unit: "s"})
	}
	return list
}
