package lesson

import (
	"slices"
	"strconv"
	"sync"

	"github.com/goatnote-inc/pawl/internal/base/spell"
	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
	"github.com/goatnote-inc/pawl/internal/learn/gates"
)

// Facts is what is known of a kernel and of its session. A fact that is not known is not there.
type Facts struct {
	Numbers map[string]float64 `json:"numbers"`
	GPU     string             `json:"gpu,omitempty"`    // sm_89, or cpu
	Kernel  string             `json:"kernel,omitempty"` // names of the benchmark and the kernel, for its family
}

// known holds the facts that symptoms can use: the quantities of a profile, and what gates know of the
// session.
var known = sync.OnceValue(func() *knownFacts {
	k := &knownFacts{slots: map[string]int{}, layout: expr.NewLayout()}
	for _, q := range slices.Concat(profile.Quantities(), diagnose.Derived()) {
		k.add(q.Name)
	}
	for _, name := range gates.Names() {
		k.add(name)
	}
	return k
})

type knownFacts struct {
	names  []string
	slots  map[string]int
	layout *expr.Layout
}

func (k *knownFacts) add(name string) {
	if _, twice := k.slots[name]; twice {
		return
	}
	if _, err := k.layout.Add(name, []any{0.0}); err != nil {
		return // a name is there once, and zero is a number
	}
	k.slots[name] = len(k.names)
	k.names = append(k.names, name)
}

// near returns a hint for a fact that does not exist.
func near(name string) string {
	if n := spell.Nearest(name, known().names); n != "" {
		return "did you mean " + strconv.Quote(n) + "?"
	}
	return "docs/reference/gates.md and profile.md list them"
}
