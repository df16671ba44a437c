package learn

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/lesson"
)

// Advice is which fix to try first.
type Advice struct {
	Kernel   string    `json:"kernel,omitempty"`
	Class    string    `json:"class"`
	GPU      string    `json:"gpu,omitempty"`
	Outcomes int       `json:"outcomes"` // measured attempts it is based on
	Fixes    []Fix     `json:"fixes"`
	Skipped  []Skipped `json:"skipped"`
}

// Fix is a fix with the gain to expect. Gains are logarithms of before over after.
type Fix struct {
	ID       string   `json:"id"`
	Basis    Basis    `json:"basis"`
	Do       string   `json:"do"` // untrusted if the basis is a lesson
	Watch    string   `json:"watch,omitempty"`
	Lessons  []string `json:"lessons,omitempty"`
	Expected float64  `json:"expected"` // mean of the outcomes, shrunk to Prior
	Prior    float64  `json:"prior"`    // what its rule or lesson expects
	Tried    int      `json:"tried"`    // outcomes with this bottleneck
	Low      float64  `json:"low,omitempty"`
	High     float64  `json:"high,omitempty"` // range of the outcomes
}

// Basis is the evidence for a fix. Fixes are ranked by it first: a lesson that was never tried is not
// above a measured gain, whatever it claims.
type Basis string

// The bases, the best first.
const (
	Measured Basis = "measured"
	FromRule Basis = "rule"
	Unproven Basis = "lesson"
)

// Skipped is a fix that is not recommended, and why.
type Skipped struct {
	ID  string `json:"id"`
	Why string `json:"why"`
}

// Subject is the kernel that advice is asked for.
type Subject struct {
	Kernel string // benchmark
	Class  string // bottleneck
	GPU    string
	Facts  map[string]float64 // of profile, record and session, for lessons
	Fixes  []Known
	Build  Build
}

// Known is a fix that a rule names, with the share of the time that it expects to save.
type Known struct {
	ID, Do, Watch string
	Share         float64
}

// Build is what the build already does.
type Build struct {
	Words      []string          // of flags, commands and build files
	Parameters map[string]string // set values
}

var (
	flagWord  = lazyregexp.New(`(?:^|[\s(,])(-{1,2}[A-Za-z][A-Za-z0-9_+-]*(?:=[A-Za-z0-9_.+-]+)?)`)
	parameter = lazyregexp.New(`\b([A-Z][A-Z0-9_]*)=([A-Za-z0-9_.]+)`)
	avoided   = lazyregexp.New(`(?i)\b(?:avoid|without|remove|drop|not)\s+(?:use\s+)?-\S+`)
)

// Has returns the flags and parameters that a fix names if the build already has all of them.
func (b Build) Has(do string) (string, bool) {
	do = avoided.ReplaceAllString(do, "")
	var named []string
	for _, m := range flagWord.FindAllStringSubmatch(do, -1) {
		if !slices.Contains(b.Words, m[1]) {
			return "", false
		}
		named = append(named, m[1])
	}
	for _, m := range parameter.FindAllStringSubmatch(do, -1) {
		if b.Parameters[m[1]] != m[2] && !slices.Contains(b.Words, "-D"+m[0]) {
			return "", false
		}
		named = append(named, m[0])
	}
	return strings.Join(named, " "), len(named) > 0
}

// Diagnosed returns the fixes of a diagnosis.
func Diagnosed(d diagnose.Diagnosis) []Known {
	var list []Known
	for _, f := range d.Findings {
		if f.Intended {
			continue
		}
		for _, fix := range f.Fixes {
			list = append(list, Known{journal.FixID(f.Rule, fix.Number), fix.Do, fix.Watch, fix.Gain})
		}
	}
	return list
}

// Journaled returns the fixes that a journal has of a profile, in the words of the rules.
func Journaled(p *journal.Profiled) []Known {
	rules := map[string]diagnose.FixRule{}
	for _, r := range diagnose.Rules().All() {
		for i, f := range r.Fixes {
			rules[journal.FixID(r.ID, i+1)] = f
		}
	}
	var list []Known
	for _, found := range p.Findings {
		for _, f := range found.Fixes {
			list = append(list, Known{f.ID, rules[f.ID].Do, rules[f.ID].Watch, f.Gain})
		}
	}
	return list
}

// priorWeight is how many outcomes the expectation of a rule or lesson counts as.
const priorWeight = 2

// Advise ranks what could be tried: the fixes of findings, and those of lessons that match the facts,
// by their outcomes in past sessions with the same bottleneck. current is the open session; nil for
// none.
func Advise(s Subject, book *lesson.Book, past []journal.Summary, current *journal.Session) Advice {
	a := Advice{Kernel: s.Kernel, Class: s.Class, GPU: s.GPU, Fixes: []Fix{}, Skipped: []Skipped{}}
	candidates := candidates(s, book)
	gains := map[string][]float64{}
	for _, p := range past {
		for _, t := range p.Attempts {
			if id := fixOf(t); id != "" && t.Class == s.Class {
				gains[id] = append(gains[id], usable(t))
				a.Outcomes++
			}
		}
	}
	for _, f := range candidates {
		f.learn(gains[f.ID])
		if why := f.skip(s.Build, current); why != "" {
			a.Skipped = append(a.Skipped, Skipped{f.ID, why})
		} else {
			a.Fixes = append(a.Fixes, f)
		}
	}
	order := []Basis{Measured, FromRule, Unproven}
	slices.SortStableFunc(a.Fixes, func(x, y Fix) int {
		return cmp.Or(cmp.Compare(slices.Index(order, x.Basis), slices.Index(order, y.Basis)), cmp.Compare(y.Expected, x.Expected), cmp.Compare(x.ID, y.ID))
	})
	return a
}

// candidates returns the fixes that rules name and lessons suggest, once each.
func candidates(s Subject, book *lesson.Book) []Fix {
	var list []Fix
	for _, k := range s.Fixes {
		if !slices.ContainsFunc(list, func(f Fix) bool { return f.ID == k.ID }) {
			list = append(list, Fix{ID: k.ID, Basis: FromRule, Do: k.Do, Watch: k.Watch, Prior: gainOf(k.Share)})
		}
	}
	for _, l := range book.Speaking(lesson.Facts{Numbers: s.Facts, GPU: s.GPU, Kernel: s.Kernel}) {
		if !slices.Contains(lesson.Bottlenecks, diagnose.Bottleneck(l.Class)) { // about building, or about how to work
			continue
		}
		id := cmp.Or(l.FixID, "lesson/"+l.Name)
		at := slices.IndexFunc(list, func(f Fix) bool { return f.ID == id })
		if at < 0 {
			at = len(list)
			list = append(list, Fix{ID: id, Basis: Unproven, Do: l.Fix, Prior: gainOf(l.Claim)})
		}
		list[at].Lessons = append(list[at].Lessons, l.Name)
	}
	return list
}

// learn sets what to expect from the outcomes.
func (f *Fix) learn(gains []float64) {
	sum := priorWeight * f.Prior
	for _, g := range gains {
		sum += g
	}
	f.Tried, f.Expected = len(gains), sum/float64(priorWeight+len(gains))
	if f.Tried > 0 {
		f.Basis, f.Low, f.High = Measured, slices.Min(gains), slices.Max(gains)
	}
}

// skip returns why a fix is not recommended; empty if it is.
func (f *Fix) skip(b Build, current *journal.Session) string {
	if named, has := b.Has(f.Do); has {
		return "the build already has " + named
	}
	if current != nil {
		for _, t := range slices.Backward(journal.Attempts(current)) {
			if fixOf(t) == f.ID {
				return "tried in this session: " + words.Change(math.Exp(-usable(t)))
			}
		}
	}
	if f.Tried > 0 && f.Expected < lesson.Noticed {
		return fmt.Sprintf("tried %s: %s", words.Plural(f.Tried, "time"), words.Change(math.Exp(-(f.Low+f.High)/2)))
	}
	return ""
}

// fixOf returns what was tried: a fix of a rule, or of a lesson that names none.
func fixOf(t journal.Attempt) string {
	if t.Fix == "" && t.Lesson != "" {
		return "lesson/" + t.Lesson
	}
	return t.Fix
}

// usable returns the gain of an attempt; at most none if its results were wrong.
func usable(t journal.Attempt) float64 {
	if !t.Correct() {
		return min(t.Gain, 0)
	}
	return t.Gain
}

// gainOf turns a share of the time that is saved into the logarithm of before over after. Nothing saves
// more than 95 %.
func gainOf(share float64) float64 {
	if !(share > 0) {
		return 0
	}
	return -math.Log1p(-min(share, 0.95))
}
