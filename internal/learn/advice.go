package learn

import (
	"slices"

	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/learn/lesson"
	"github.com/goatnote-inc/pawl/internal/learn/model"
)

// Advice is which fix to try first, with what to expect of each.
type Advice struct {
	Kernel string `json:"kernel,omitempty"`
	Class  string `json:"class"`
	GPU    string `json:"gpu,omitempty"`
	// Outcomes is how many attempts it is learned from; 0 says that it is only what rules
	// and lessons say.
	Outcomes int       `json:"outcomes"`
	Fixes    []Advised `json:"fixes"`
}

// Advised is a fix with where it is from.
type Advised struct {
	model.Ranked
	Do      string   `json:"do"` // not to be trusted where it is a lesson's
	Watch   string   `json:"watch,omitempty"`
	Lessons []string `json:"lessons,omitempty"` // that speak for it
}

// Subject is the kernel that advice is asked for.
type Subject struct {
	Kernel string // benchmark
	Class  string // its bottleneck
	GPU    string
	Facts  map[string]float64 // of profile, build and session: what lessons ask for
	Fixes  []Known
}

// Known is a fix that a rule names, with the share of the time that it expects to save.
type Known struct {
	ID, Do, Watch string
	Share         float64
}

// Diagnosed is the subject that a diagnosis is about.
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

// Journaled are the fixes that a journal kept of a profile, in the words of the rules.
func Journaled(p *journal.Profiled) []Known {
	words := map[string]diagnose.FixRule{}
	for _, r := range diagnose.Rules().All() {
		for i, f := range r.Fixes {
			words[journal.FixID(r.ID, i+1)] = f
		}
	}
	var list []Known
	for _, found := range p.Findings {
		for _, f := range found.Fixes {
			w := words[f.ID]
			list = append(list, Known{f.ID, w.Do, w.Watch, f.Gain})
		}
	}
	return list
}

// Advise ranks what could be tried: the fixes that findings name and those of lessons that
// speak of the facts, by what came of them in earlier sessions.
func Advise(s Subject, book *lesson.Book, tales []Tale) Advice {
	a := Advice{Kernel: s.Kernel, Class: s.Class, GPU: s.GPU, Fixes: []Advised{}}
	var candidates []model.Candidate
	about := map[string]Advised{}
	add := func(id string, share float64, with Advised) {
		if _, there := about[id]; there {
			return
		}
		about[id] = with
		candidates = append(candidates, model.Candidate{
			Key: model.Key{Fix: id, Class: s.Class, GPU: s.GPU}, Kernel: s.Kernel, Prior: gainOf(share),
		})
	}
	for _, k := range s.Fixes {
		add(k.ID, k.Share, Advised{Do: k.Do, Watch: k.Watch})
	}
	for _, l := range book.Speaking(lesson.Facts{Numbers: s.Facts, GPU: s.GPU, Kernel: s.Kernel}) {
		if !slices.Contains(bottlenecks, diagnose.Bottleneck(l.Class)) { // it is about building, or about how to work
			continue
		}
		id := l.FixID
		if id == "" {
			id = "lesson/" + l.Name
		}
		add(id, 0, Advised{Do: l.Fix})
		at := slices.IndexFunc(candidates, func(c model.Candidate) bool { return c.Fix == id })
		with := about[id]
		with.Lessons = append(with.Lessons, l.Name)
		about[id] = with
		if l.Claim != nil {
			candidates[at].Claims = append(candidates[at].Claims, model.Claim{Lesson: l.Name, Gain: gainOf(*l.Claim)})
		}
	}
	if len(candidates) == 0 {
		return a
	}
	ranker := newRanker()
	a.Outcomes = teach(ranker, tales)
	for _, r := range ranker.Rank(candidates) {
		advised := about[r.Fix]
		advised.Ranked = r
		a.Fixes = append(a.Fixes, advised)
	}
	return a
}

var bottlenecks = []diagnose.Bottleneck{diagnose.Memory, diagnose.Compute, diagnose.Latency, diagnose.Launch, diagnose.Occupancy, diagnose.Balanced}

// learnMost is how many outcomes a ranker learns from, the newest.
const learnMost = 1000

// teach lets a ranker learn from the newest attempts of which somebody noted what they
// tried and that gave right results; it gives their number.
func teach(ranker model.Ranker, tales []Tale) int {
	var list []*Try
	for i := range tales {
		for j := range tales[i].Tries {
			if t := &tales[i].Tries[j]; t.fix() != "" && t.Correct {
				list = append(list, t)
			}
		}
	}
	list = list[max(0, len(list)-learnMost):]
	for _, t := range list {
		ranker.Learn(outcome(t))
	}
	return len(list)
}

// fix is what was tried: of a rule, or of a lesson that has none of a rule.
func (t *Try) fix() string {
	if t.Fix == "" && t.Lesson != "" {
		return "lesson/" + t.Lesson
	}
	return t.Fix
}
