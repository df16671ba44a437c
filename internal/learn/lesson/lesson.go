// Package lesson keeps what was learned about kernels: a symptom, its cause and what helps,
// with the evidence. A lesson is a Markdown file with front matter in .pawl/lessons, written
// once; what was seen of it later, outcomes and reviews, lies beside it in files of its own,
// so that two people's lessons never meet in a merge.
//
// The package must not know how a session goes, nor what a fix gains: it counts what was
// seen, model says what to expect.
package lesson

import (
	"time"

	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
)

// Lesson is one thing that was learned.
type Lesson struct {
	Name  string `json:"name"` // of its file, without .md: words of the title and a part of its digest
	Title string `json:"title"`
	// Symptom is an expression over facts of a profile, of a build and of a session: the
	// lesson speaks where it is true. A fact that is not known makes it silent.
	Symptom string    `json:"symptom"`
	Class   string    `json:"class"` // bottleneck class of diagnose, or build, correctness, environment, measurement, method
	Cause   string    `json:"cause"`
	Fix     string    `json:"fix"`               // what to do, in words
	FixID   string    `json:"fix_id,omitempty"`  // of a rule, where it is one of those: journal.FixID
	GPUs    []string  `json:"gpus,omitempty"`    // sm_80, sm_9*; empty for all
	Kernels []string  `json:"kernels,omitempty"` // families: attention, matmul, reduction, ...; empty for all
	Source  []string  `json:"source"`            // runs, sessions, documents: where it is from
	Author  string    `json:"author,omitempty"`
	State   State     `json:"state"`           // as written; see Book.State for what it is by now
	Claim   *float64  `json:"claim,omitempty"` // share of the time that its author expects it to save
	Written time.Time `json:"written,omitzero"`
	Tests   []Test    `json:"tests,omitempty"`
	Body    string    `json:"body,omitempty"` // Markdown below the front matter; not to be trusted

	speaks *expr.Bound // the symptom; nil where nobody compiled it yet
}

// Test is an example of the symptom: facts, and whether the lesson speaks of them.
type Test struct {
	Name   string             `json:"name,omitempty"`
	Speaks bool               `json:"speaks"`
	GPU    string             `json:"gpu,omitempty"`
	Kernel string             `json:"kernel,omitempty"`
	Facts  map[string]float64 `json:"facts"`
}

// State is how far a lesson is to be believed.
type State string

// The states.
const (
	Proposed  State = "proposed"
	Confirmed State = "confirmed"
	Refuted   State = "refuted"
)

// Review is a person's word on a lesson.
type Review struct {
	Lesson string    `json:"lesson"`
	State  State     `json:"state"`
	Reason string    `json:"reason"`
	By     string    `json:"by"`
	Time   time.Time `json:"time"`
}

// Outcome is what came of following a lesson in a session.
type Outcome struct {
	Lesson  string  `json:"lesson"`
	Session string  `json:"session"`
	Run     string  `json:"run,omitempty"`
	Gain    float64 `json:"gain"` // logarithm of before over after
	Error   float64 `json:"error,omitempty"`
	Wrong   bool    `json:"wrong,omitempty"` // the results were: no gain counts then
}
