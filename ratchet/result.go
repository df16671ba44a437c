package ratchet

import (
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// Schema names the document in which a verdict is kept.
const Schema = "pawl.verdict/v1"

// Result is the verdict on a whole comparison.
type Result struct {
	Schema   string          `json:"schema"`
	Verdict  Verdict         `json:"verdict"`
	Sentence string          `json:"sentence"`
	Counts   map[Verdict]int `json:"counts"`
	Suite    *SuiteJudgement `json:"suite,omitempty"`
	// Undecided names the cases without an answer that the run passes with.
	Undecided []string    `json:"undecided,omitempty"`
	Cases     []Judgement `json:"cases"`
	Policy    Policy      `json:"policy"`
	Warnings  []string    `json:"warnings,omitempty"`
}

// Severity of the whole: the worst of all that may fail the change.
func (r Result) Severity() Severity { return r.Verdict.Severity() }

// Judgement is the verdict on one case, with what it rests on.
type Judgement struct {
	Name string `json:"name"`
	measure.CaseKey
	Verdict    Verdict  `json:"verdict"`
	Ratchet    Move     `json:"ratchet"`
	Gate       bool     `json:"gate"`
	Quarantine string   `json:"quarantine,omitempty"` // who looks after it, until when and why
	Sentence   string   `json:"sentence"`
	Cause      string   `json:"cause,omitempty"` // "clock or power"
	Needs      string   `json:"needs,omitempty"` // "accept": a person's word would settle it
	Facts      *Facts   `json:"evidence,omitempty"`
	Watch      []string `json:"watch,omitempty"` // what changed and is not gated
}

// Fails tells whether the case alone fails the change.
func (j Judgement) Fails() bool { return j.Gate && j.Verdict.Severity() == No }

// Facts are the numbers behind a verdict. Changes are of the value itself, such as
// 0.042 for 4.2 % more; P are one-sided.
type Facts struct {
	Rounds   int            `json:"rounds"` // a side
	Pairing  Pairing        `json:"pairing"`
	Unit     string         `json:"unit"`
	Better   measure.Better `json:"better"`
	Base     Side           `json:"base"`
	Now      Side           `json:"candidate"`
	Change   float64        `json:"change"`             // of the candidate against the base
	Interval *Range         `json:"interval,omitempty"` // that holds it, with 95 % confidence
	Spread   float64        `json:"spread,omitempty"`   // of a round's difference
	// Detectable is the smallest change that so many rounds find 19 times in 20.
	Detectable float64 `json:"detectable,omitempty"`

	Slower float64 `json:"p_slower"`     // against "not worse", adjusted for the looks
	Faster float64 `json:"p_faster"`     // against "not better"
	Kept   float64 `json:"p_maintained"` // against "worse by the limit or more"
	Holm   float64 `json:"p_holm"`       // the smaller of the first two, adjusted for the other cases too

	Delta       float64      `json:"cliffs_delta"` // above 0: the candidate's values tend to be larger
	Effect      stats.Effect `json:"effect"`
	Wilcoxon    float64      `json:"p_wilcoxon"`
	MannWhitney float64      `json:"p_mann_whitney"`
	Cycles      *float64     `json:"change_in_cycles,omitempty"` // where clocks were sampled
}

// Range is an interval of changes.
type Range struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Side is one side of a case in numbers.
type Side struct {
	Median  float64   `json:"median"` // of the rounds' medians
	P95     float64   `json:"p95"`
	P99     float64   `json:"p99"`
	CV      float64   `json:"cv"`
	Modes   int       `json:"modes"`
	Medians []float64 `json:"medians"` // of each round, in order
}

// Pairing says how the two sides were measured.
type Pairing string

// The pairings.
const (
	Together Pairing = "paired"           // side by side in the same rounds
	Apart    Pairing = "unpaired"         // not in the same minutes
	Stored   Pairing = "stored_baseline"  // against what a ledger keeps of earlier sessions
	Against  Pairing = "stored_reference" // the same, corrected by a reference measured in both
)
