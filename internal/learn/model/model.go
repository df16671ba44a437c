// Package model says which fix to try first, what it should gain and how sure that is, and
// what the next session will take. It starts from what rules and lessons expect and is
// corrected by every outcome.
//
// The package is pure: outcomes in, ranking out. It must not know where outcomes come from,
// and nothing of the generator it is judged by.
package model

// Key is what a gain depends on.
type Key struct {
	Fix   string `json:"fix"`   // journal.FixID
	Class string `json:"class"` // the bottleneck of the kernel
	GPU   string `json:"gpu"`   // sm_89
}

// Outcome is what came of trying a fix. Gains are logarithms of before over after: 0.182 is
// 20 % faster, below 0 is slower.
type Outcome struct {
	Key
	Kernel string  `json:"kernel"` // attempts on one kernel have something in common
	Gain   float64 `json:"gain"`
	Error  float64 `json:"error"` // its standard error, as measured

	// Prior and Claims are what was expected when the fix was chosen. Where both are left
	// out, what was ranked last under the same key counts, and where nothing was, what is
	// ranked next.
	Prior  float64 `json:"prior,omitempty"`
	Claims []Claim `json:"claims,omitempty"`
}

// Candidate is a fix that could be tried on a kernel now.
type Candidate struct {
	Key
	Kernel string `json:"kernel"`
	// Prior is the gain that its rule expects of it here, as a logarithm.
	Prior float64 `json:"prior"`
	// Claims are what lessons say of it: no more than that somebody said so.
	Claims []Claim `json:"claims,omitempty"`
}

// Claim is a gain that a lesson claims.
type Claim struct {
	Lesson string  `json:"lesson"`
	Gain   float64 `json:"gain"`
}

// Ranked is a candidate with what to expect of it.
type Ranked struct {
	Candidate
	Gain float64 `json:"gain"` // expected
	Low  float64 `json:"low"`  // the interval that holds it in four of five cases
	High float64 `json:"high"`
	Best float64 `json:"best"` // probability that it is the best of those that were ranked
	Seen int     `json:"seen"` // outcomes of this fix so far
}

// Ranker is something that learns from outcomes which fix is the best.
type Ranker interface {
	// Rank puts candidates of one kernel in order, the best first.
	Rank([]Candidate) []Ranked
	// Learn takes an outcome in.
	Learn(Outcome)
}

// Past is a session as forecasts see it.
type Past struct {
	Minutes float64 `json:"minutes"`
	Speedup float64 `json:"speedup"` // at its end against its start; 0 where nothing was measured
}

// Range is a number with the interval that holds it in four of five cases.
type Range struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
}

// Outlook is what the next session should take and reach.
type Outlook struct {
	Minutes Range `json:"minutes"`
	Speedup Range `json:"speedup"`
	Basis   int   `json:"basis"` // sessions it is made from
}
