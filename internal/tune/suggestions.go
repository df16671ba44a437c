package tune

import (
	"fmt"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/tune/space"
)

// Suggestions is the advice drawn from a search: what to change, how, and how certain that
// is. The renderers only format it.
type Suggestions struct {
	*Report
	Advice       Advice        `json:"advice"`
	Headline     string        `json:"headline"`
	Notes        []string      `json:"notes,omitempty"` // reasons to doubt the result
	Settings     []Setting     `json:"settings,omitempty"`
	Forms        []Form        `json:"forms,omitempty"`
	Dispatch     *Form         `json:"dispatch,omitempty"`
	Importance   Importance    `json:"importance"`
	Mattered     []string      `json:"mattered"`
	Alternatives []Alternative `json:"alternatives,omitempty"`
	Common       string        `json:"common,omitempty"` // what the alternatives share, and which parameters vary
	Failures     []Failure     `json:"failures,omitempty"`
	Unexplored   []string      `json:"unexplored"`
	Cost         []string      `json:"cost"`

	point map[string]any // the suggested point; nil for the defaults
}

// Advice is the recommended action.
type Advice string

// The recommended actions.
const (
	Change   Advice = "change"   // proven
	Optional Advice = "optional" // proven, but the gain is less than MinGain
	Unproven Advice = "unproven" // not measured again, or without an answer
	Keep     Advice = "keep"     // the defaults are the best known point
)

// Setting is one parameter of the suggested point.
type Setting struct {
	Name    string `json:"name"`
	Default any    `json:"default"`
	Value   any    `json:"value"`
	Changed bool   `json:"changed"`
	Matters string `json:"matters,omitempty"` // its share of the variation in time, in words; empty if unknown
}

// Alternative is a point that is nearly as fast as the best.
type Alternative struct {
	N       int            `json:"n"`
	Point   map[string]any `json:"point"`
	Value   float64        `json:"value"`   // nanoseconds
	Over    float64        `json:"over"`    // relative to the best: 0.01 is 1 % slower
	Differs string         `json:"differs"` // from the suggested point
}

const (
	nearOptimal      = 0.02
	mostAlternatives = 8
)

// NewSuggestions analyzes a search. It takes about a second, because it trains the
// importance model, with the seed of the search.
func NewSuggestions(r *Report) *Suggestions {
	s := &Suggestions{Report: r}
	s.Importance = NewImportance(r.Header, r.Evaluations, r.Header.Seed)
	s.decide()
	for _, p := range r.Header.Space.Parameters {
		v, known := s.point[p.Name]
		if !known {
			v = p.Default
		}
		s.Settings = append(s.Settings, Setting{p.Name, p.Default, v, !space.Same(v, p.Default), s.Importance.of(p.Name)})
	}
	if s.point != nil {
		s.Forms = r.forms(s.point)
	}
	if choices := r.choices(); len(choices) > 0 {
		s.Dispatch = r.dispatch(choices)
	}
	s.Mattered = s.Importance.words()
	s.alternatives()
	s.Failures = failures(r.Header.Space.Parameters, r.Evaluations)
	s.Unexplored = s.unexplored()
	s.Cost = s.cost()
	return s
}

// decide sets the advice and how certain it is.
func (s *Suggestions) decide() {
	best, found := Best(s.Evaluations)
	p := s.Proof
	switch {
	case !found:
		s.Advice, s.Headline = Keep, "No point gave a correct result, not even the defaults."
		return
	case p == nil && Key(best.Point) == Key(s.Default.Point):
		s.Advice, s.Headline = Keep, "No point that was tried was faster than the defaults: keep them."
	case p == nil:
		s.Advice, s.point = Unproven, best.Point
		s.Headline = fmt.Sprintf("Not proven: in the search, %s took %s.", s.Header.Case, words.Quantity(best.Value, "ns"))
		if d := s.Default; d.Status == OK && d.Value > 0 && best.Value > 0 {
			s.Headline = fmt.Sprintf("Not proven: in the search, %s took %s, and with the defaults %s: %s.",
				s.Header.Case, words.Quantity(best.Value, "ns"), words.Quantity(d.Value, "ns"), words.Change(best.Value/d.Value))
		}
		if s.Unproven != "" {
			s.Notes = append(s.Notes, "It was not measured again: "+words.Sanitize(s.Unproven)+".")
		}
		s.Notes = append(s.Notes, "The best of many looks better than it is: part of its lead is luck. Only a measurement side by side with the defaults shows how much.")
	default:
		s.Headline = p.Sentence
		s.proven(p)
	}
	if s.Unchecked != "" {
		s.Notes = append(s.Notes, "Results were not checked: "+words.Sanitize(s.Unchecked)+".")
	}
}

func (s *Suggestions) proven(p *Proof) {
	winner := p.Winner >= 0 && p.Winner < len(p.Finalists)
	switch {
	case winner && p.Answer == Faster:
		s.Advice, s.point = Change, p.Finalists[p.Winner].Point
	case winner:
		s.Advice, s.point = Optional, p.Finalists[p.Winner].Point
	case p.Answer == Inconclusive && len(p.Finalists) > 0:
		s.Advice = Unproven
		for _, f := range p.Finalists {
			if f.ResultError == "" {
				s.point = f.Point
				break
			}
		}
		if s.point != nil {
			s.Notes = append(s.Notes, "The point below is the best of the search. Measure it longer; do not make it the default on this evidence.")
		}
	default:
		s.Advice = Keep
	}
	for _, f := range p.Finalists {
		if f.ResultError != "" {
			s.Notes = append(s.Notes, fmt.Sprintf("Evaluation %d was fast but cannot be used: %s.", f.N, strings.TrimSuffix(words.Sanitize(f.ResultError), ".")))
		}
	}
	if len(p.SlowerCases) > 0 {
		s.Notes = append(s.Notes, "As the default for all configs, it would make these slower: "+words.Sanitize(strings.Join(p.SlowerCases, ", "))+". Choose by config.")
	}
}
