package ratchet

import (
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// Schema is the format of a stored verdict.
const Schema = "pawl.verdict/v1"

// Result is the verdict on a whole comparison.
type Result struct {
	Schema   string          `json:"schema"`
	Verdict  Verdict         `json:"verdict"`
	Sentence string          `json:"sentence"`
	Counts   map[Verdict]int `json:"counts"`
	Suite    *SuiteJudgment  `json:"suite,omitempty"`
	// Undecided lists the undecided cases with which the run still passes.
	Undecided []string   `json:"undecided,omitempty"`
	Cases     []Judgment `json:"cases"`
	// Calibrations says how the devices of a fleet were calibrated, in a line each; empty if no fleet measured.
	Calibrations []string `json:"calibrations,omitempty"`
	Policy       Policy   `json:"policy"`
	Warnings     []string `json:"warnings,omitempty"`
	// Devices lists the verdicts that Join joined; empty for a result of one device.
	Devices []DeviceVerdict `json:"devices,omitempty"`
}

// Severity returns the severity of the overall verdict: the worst of everything that may fail the change.
func (r Result) Severity() Severity { return r.Verdict.Severity() }

// Judgment is the verdict on one case, with its evidence.
type Judgment struct {
	Name string `json:"name"`
	measure.CaseKey
	Verdict    Verdict  `json:"verdict"`
	Ratchet    Move     `json:"ratchet"`
	Gate       bool     `json:"gate"`
	Reported   bool     `json:"reported,omitempty"`   // the harness states the values: pawl did not measure them
	Limit      *float64 `json:"limit,omitempty"`      // of every value
	Quarantine string   `json:"quarantine,omitempty"` // owner, end date and reason
	// Unchanged is set for a case that cannot have changed: it was skipped, or measured as a sample of these.
	Unchanged measure.Unchanged `json:"unchanged,omitempty"`
	Sentence  string            `json:"sentence"`
	Cause     string            `json:"cause,omitempty"` // "clock or power"
	Needs     string            `json:"needs,omitempty"` // "accept": a person's word would settle it
	Facts     *Facts            `json:"evidence,omitempty"`
	Watch     []string          `json:"watch,omitempty"`   // changes that are not gated
	Devices   []string          `json:"devices,omitempty"` // of a joined result: where this holds; empty for all of them
}

// Fails reports whether the case alone fails the change.
func (j Judgment) Fails() bool { return j.Gate && j.Verdict.Severity() == SeverityFail }

// Facts holds the numbers behind a verdict. Changes are relative to the value itself: 0.042 means 4.2 %
// more. The p-values are one-sided, except Wilcoxon and MannWhitney.
type Facts struct {
	Rounds   int            `json:"rounds"` // per side
	Pairing  Pairing        `json:"pairing"`
	Unit     string         `json:"unit"`
	Better   measure.Better `json:"better"`
	Rule     string         `json:"rule,omitempty"` // what decided, if not the ratio: "limit", "exact" or "no ratio"
	Base     Side           `json:"base"`
	Now      Side           `json:"candidate"`
	Change   float64        `json:"change"`             // of the candidate relative to the base
	Interval *Range         `json:"interval,omitempty"` // 95 % confidence interval of Change
	Spread   float64        `json:"spread,omitempty"`   // of the difference of one round
	// Detectable is the smallest change that this number of rounds detects 19 times in 20.
	Detectable float64 `json:"detectable,omitempty"`

	Slower float64 `json:"p_slower"`     // against "not worse", adjusted for the looks
	Faster float64 `json:"p_faster"`     // against "not better"
	Kept   float64 `json:"p_maintained"` // against "worse by the limit or more"
	Holm   float64 `json:"p_holm"`       // the smaller of p_slower and p_faster, also adjusted for the other cases

	Delta       float64      `json:"cliffs_delta"` // positive if the candidate's values tend to be larger
	Effect      stats.Effect `json:"effect"`
	Wilcoxon    float64      `json:"p_wilcoxon"`
	MannWhitney float64      `json:"p_mann_whitney"`
	Cycles      *float64     `json:"change_in_cycles,omitempty"` // if clocks were sampled
}

// HasRatio reports whether the sides have a ratio, without which Change means nothing.
func (f *Facts) HasRatio() bool { return f.Base.Median > 0 && f.Now.Median > 0 }

// Range is an interval of changes.
type Range struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Side holds the statistics of one side of a case.
type Side struct {
	Median  float64   `json:"median"` // median of the rounds' medians
	P95     float64   `json:"p95"`
	P99     float64   `json:"p99"`
	CV      float64   `json:"cv"`
	Modes   int       `json:"modes"`
	Medians []float64 `json:"medians"` // median of each round, in order
}

// Pairing says how the two sides were measured.
type Pairing string

// The pairings.
const (
	SideBySide      Pairing = "paired"           // side by side in the same rounds
	Unpaired        Pairing = "unpaired"         // not at the same time
	Stored          Pairing = "stored_baseline"  // against earlier sessions stored in a ledger
	StoredReference Pairing = "stored_reference" // like Stored, corrected by a reference measured in both
)
