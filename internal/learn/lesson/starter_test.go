package lesson

import (
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// Every lesson of the starter set can be read, cites its source, claims no gain, and has an
// example of which it speaks and one of which it does not. Reading one runs its examples.
func TestStarter(t *testing.T) {
	list, err := starter()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 40 {
		t.Errorf("there are %d lessons, want at least 40", len(list))
	}
	titles := map[string]string{}
	classes := map[string]int{}
	for _, l := range list {
		if l.State != Proposed || l.Claim != nil || len(l.Source) == 0 || l.Author != "" {
			t.Errorf("%s: state %s, claim %v, source %v, author %q", l.Name, l.State, l.Claim, l.Source, l.Author)
		}
		if other := titles[l.Title]; other != "" {
			t.Errorf("%s and %s have one title", l.Name, other)
		}
		titles[l.Title] = l.Name
		classes[l.Class]++
		examples := map[bool]int{}
		for _, x := range l.Tests {
			examples[x.Speaks]++
		}
		if examples[true] == 0 || examples[false] == 0 {
			t.Errorf("%s: wants an example of each kind, has %v", l.Name, examples)
		}
		if l.FixID != "" && !ruleHas(l.FixID) {
			t.Errorf("%s: there is no fix %s", l.Name, l.FixID)
		}
	}
	for _, class := range Classes() {
		if classes[class] == 0 && class != string(diagnose.Balanced) {
			t.Errorf("no lesson is about %s", class)
		}
	}
}

func ruleHas(fixID string) bool {
	id, _, _ := strings.Cut(fixID, "/")
	r, ok := diagnose.Rules().Find(id)
	for i := range len(r.Fixes) {
		if ok && journal.FixID(id, i+1) == fixID {
			return true
		}
	}
	return false
}

// An example must depend on each of its facts: without one that the symptom asks for, the
// lesson is silent.
func TestStarterIsSilentWithoutItsFacts(t *testing.T) {
	for _, l := range Starter() {
		for _, x := range l.Tests {
			for _, name := range l.Asks() {
				facts := map[string]float64{}
				for k, v := range x.Facts {
					if k != name {
						facts[k] = v
					}
				}
				if l.Speaks(Facts{Numbers: facts, GPU: x.GPU, Kernel: x.Kernel}) {
					t.Errorf("%s speaks without %s", l.Name, name)
				}
			}
		}
	}
}
