// Package lesson keeps what was learned about kernels: a symptom, its cause and what helps, with
// the evidence. A lesson is a Markdown file with front matter in .pawl/lessons, written once.
// Reviews are files next to it, and outcomes come from journals, so that merges never conflict.
//
// The package must not know how a session goes, nor rank fixes.
package lesson

import (
	"time"

	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
)

// Lesson is one thing that was learned. Its texts are untrusted.
type Lesson struct {
	Name  string `json:"name" yaml:"-"` // of its file, without .md: words of the title and part of its digest
	Title string `json:"title" yaml:"title"`
	// Symptom is an expression over facts of a profile and of a session: the lesson matches
	// where it is true. Without one it never matches.
	Symptom string    `json:"symptom,omitempty" yaml:"symptom,omitempty"`
	Class   string    `json:"class" yaml:"class"` // see Classes
	Cause   string    `json:"cause,omitempty" yaml:"cause"`
	Fix     string    `json:"fix,omitempty" yaml:"fix"`
	FixID   string    `json:"fix_id,omitempty" yaml:"fix_id,omitempty"`        // of a rule: see journal.FixID
	GPUs    []string  `json:"gpus,omitempty" yaml:"gpus,omitempty,flow"`       // sm_80, sm_9*; empty for all
	Kernels []string  `json:"kernels,omitempty" yaml:"kernels,omitempty,flow"` // families; empty for all
	Source  []string  `json:"source,omitempty" yaml:"source"`                  // runs, sessions, documents: the evidence
	Author  string    `json:"author,omitempty" yaml:"author,omitempty"`        //
	Claim   float64   `json:"claim,omitempty" yaml:"claim,omitempty"`          // share of the time that its author expects to save
	Written time.Time `json:"written,omitzero" yaml:"written,omitempty"`       //
	Tests   []Test    `json:"tests,omitempty" yaml:"tests,omitempty"`          // examples
	Body    string    `json:"body,omitempty" yaml:"-"`                         // Markdown below the front matter

	matches *expr.Bound // the symptom; nil before Compile
}

// Test is an example: facts, and whether the lesson matches them.
type Test struct {
	Name   string             `json:"name,omitempty" yaml:"name,omitempty"`
	Want   string             `json:"want" yaml:"want"` // speaks or silent
	GPU    string             `json:"gpu,omitempty" yaml:"gpu,omitempty"`
	Kernel string             `json:"kernel,omitempty" yaml:"kernel,omitempty"`
	Facts  map[string]float64 `json:"facts" yaml:"facts,flow"`
}

// State is how far a lesson is proven.
type State string

// The states.
const (
	Proposed  State = "proposed"
	Confirmed State = "confirmed"
	Refuted   State = "refuted"
)

// Review is a person's decision about a lesson.
type Review struct {
	Lesson string    `json:"lesson"`
	State  State     `json:"state"`
	Reason string    `json:"reason"`
	By     string    `json:"by"`
	Time   time.Time `json:"time"`
}
