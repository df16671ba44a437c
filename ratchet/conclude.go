package ratchet

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

// conclude sets the overall verdict: the worst of everything that may fail the change. Among passing
// verdicts it takes the most informative one.
func (r *Result) conclude() {
	r.Verdict = ""
	for _, c := range r.Cases {
		r.Counts[c.Verdict]++
		if c.Gate && !slices.Contains(r.Undecided, c.Name) && (r.Verdict == "" || c.Verdict.weight() > r.Verdict.weight()) {
			r.Verdict = c.Verdict
		}
	}
	if r.Suite != nil && r.Suite.Verdict == Regression && r.Verdict.Severity() != SeverityFail {
		r.Verdict = Regression
	}
	if r.Verdict == "" { // no case was gated
		r.Verdict = Inconclusive
	}
	r.Sentence = r.sentence()
}

// weight orders verdicts, worst last. An unknown one is the worst.
func (v Verdict) weight() int {
	order := []Verdict{Identical, New, Maintained, Improvement, Inconclusive, Missing, Regression, Broken}
	if i := slices.Index(order, v); i >= 0 {
		return i
	}
	return len(order)
}

// sentence summarizes the result in one line, problems first.
func (r *Result) sentence() string {
	if len(r.Cases) == 0 {
		return "There is no case to compare."
	}
	if len(r.Cases) == 1 {
		return r.Cases[0].Sentence
	}
	var parts []string
	for _, v := range []Verdict{Broken, Regression, Missing, Inconclusive, Improvement, Maintained, Identical, New} {
		if n := r.Counts[v]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, v))
		}
	}
	text := fmt.Sprintf("Of %d cases: %s.", len(r.Cases), strings.Join(parts, ", "))
	if n := len(r.Undecided); n > 0 {
		text += fmt.Sprintf(" %d may stay undecided: %s.", n, strings.Join(r.Undecided, ", "))
	}
	if worst := r.worst(); worst != nil {
		text += fmt.Sprintf(" Worst: %s, %s.", worst.Name, amount(*worst.Facts))
	}
	if r.Suite != nil && r.Suite.Verdict == Regression {
		text += " " + r.Suite.Sentence
	}
	if left := r.LeftOut(); left != "" {
		text += " " + left
	}
	if !anyGate(r.Cases) {
		text += " No case is gated, so nothing can fail."
	}
	return text
}

func anyGate(cases []Judgment) bool {
	for _, c := range cases {
		if c.Gate {
			return true
		}
	}
	return false
}

// worst returns the gated regression with the largest loss.
func (r *Result) worst() *Judgment {
	var worst *Judgment
	loss := func(j *Judgment) float64 { return math.Abs(math.Log1p(j.Facts.Change)) }
	for i := range r.Cases {
		c := &r.Cases[i]
		if c.Verdict == Regression && c.Gate && c.Facts != nil && (worst == nil || cmp.Compare(loss(c), loss(worst)) > 0) {
			worst = c
		}
	}
	return worst
}
