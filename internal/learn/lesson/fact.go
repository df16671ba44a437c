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

// Fact is something that a symptom can use.
type Fact struct {
	Name  string
	Unit  string // as in profile.Quantity; "yes" for 1 or 0
	About string
	From  From
}

// From is the source of a fact.
type From string

// The sources of facts.
const (
	FromProfile From = "profile"
	FromRecord  From = "record"  // of a run: see OfRun
	FromSession From = "session" // see gates.Learn
)

const yes = "yes"

// recordFacts are those of OfRun that no profile has.
var recordFacts = []Fact{
	{Name: "spill_bytes", Unit: "byte", About: "registers that a thread stores to memory and loads back, as the compiler counts them"},
	{Name: "stack_bytes", Unit: "byte", About: "stack of a thread"},
	{Name: "local_bytes", Unit: "byte", About: "local memory of a thread beside its stack"},
	{Name: "static_shared_bytes", Unit: "byte", About: "static shared memory of a block"},
	{Name: "compiler_remarks", Unit: "", About: "losses that the compiler foresees"},
	{Name: "arch_built", Unit: yes, About: "the build has code for the architecture of the device"},
	{Name: "fast_math", Unit: yes, About: "the build uses fast arithmetic"},
	{Name: "max_registers", Unit: "", About: "registers that the build allows a thread for all kernels"},
	{Name: "clocks_free", Unit: yes, About: "the clocks of the device were not held"},
	{Name: "clock_spread_pct", Unit: "%", About: "spread of the SM clock between samples"},
	{Name: "rounds", Unit: "", About: "rounds that count"},
	{Name: "rounds_dropped", Unit: "", About: "rounds that do not count"},
	{Name: "throttled", Unit: yes, About: "the device slowed itself down"},
	{Name: "foreign_process", Unit: yes, About: "another process used the device"},
	{Name: "host_timed", Unit: yes, About: "a kernel of a GPU was timed by a clock of the host"},
	{Name: "hot_only", Unit: yes, About: "no case was measured with a cold cache"},
	{Name: "verified", Unit: "", About: "results of timed runs that were compared and right"},
	{Name: "unsteady", Unit: yes, About: "warm-up ended by its limit"},
	{Name: "shortest_ns", Unit: "ns", About: "median of the fastest case"},
	{Name: "timer_step_pct", Unit: "%", About: "step of the timer, of the shortest sample"},
	{Name: "dirty", Unit: yes, About: "the candidate was built from changes that no commit has"},
}

// Known returns the facts that symptoms can use.
func Known() []Fact { return slices.Clone(known().list) }

type knownFacts struct {
	list   []Fact
	slots  map[string]int
	layout *expr.Layout
}

var known = sync.OnceValue(func() *knownFacts {
	k := &knownFacts{slots: map[string]int{}, layout: expr.NewLayout()}
	add := func(f Fact) {
		if _, twice := k.slots[f.Name]; twice {
			return // a build and a profile both have the registers
		}
		if _, err := k.layout.Add(f.Name, []any{0.0}); err != nil {
			return // a name is there once, and zero is a number
		}
		k.slots[f.Name] = len(k.list)
		k.list = append(k.list, f)
	}
	for _, q := range slices.Concat(profile.Quantities(), diagnose.Derived()) {
		add(Fact{Name: q.Name, Unit: q.Unit, About: q.About, From: FromProfile})
	}
	for _, f := range recordFacts {
		f.From = FromRecord
		add(f)
	}
	for _, f := range gates.Names() {
		add(Fact{Name: f.Name, About: f.About, From: FromSession})
	}
	return k
})

// near returns a hint for a fact that does not exist.
func near(name string) string {
	var names []string
	for _, f := range known().list {
		names = append(names, f.Name)
	}
	if n := spell.Nearest(name, names); n != "" {
		return "did you mean " + strconv.Quote(n) + "?"
	}
	return "docs/reference/lessons.md lists them"
}
