package diagnose

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// Difference holds what changed between two profiles of one case, and which
// changes can explain its change in time.
type Difference struct {
	// Before and After are times in nanoseconds: measured without a profiler if available, else as
	// reported by the tool, else 0.
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	Timer  string  `json:"timer,omitempty"` // "measured", or the tool's name
	// Sentence describes what changed in the execution, with numbers, and what to try first.
	Sentence string `json:"sentence"`
	// Reason is Sentence without the size of the change, for reports that already state it.
	Reason    string   `json:"because,omitempty"`
	Causes    []Cause  `json:"causes"`              // largest share explained first, symptoms after other causes
	Changes   []Change `json:"changes"`             // every quantity that moved, largest change first
	Identical bool     `json:"identical,omitempty"` // the machine code is the same
}

// Cause is a change that costs or saves time.
type Cause struct {
	Name     string `json:"name"`
	Title    string `json:"title"`
	Sentence string `json:"sentence"`
	// Explains is the share of the time change it accounts for, from 0 to 1; nil if unknown. Causes
	// overlap, so shares must not be added up.
	Explains *float64 `json:"explains,omitempty"`
	Symptom  bool     `json:"symptom,omitempty"` // it follows from another cause
	Chain    []Change `json:"chain"`             // steps, each a consequence of the one before
	Fixes    []Fix    `json:"fixes,omitempty"`   // none if the case became faster
}

// Change is a quantity that moved.
type Change struct {
	Quantity string   `json:"quantity"`
	About    string   `json:"about"`
	Unit     string   `json:"unit,omitempty"`
	Before   *float64 `json:"before,omitempty"`
	After    *float64 `json:"after,omitempty"`
}

// String describes a change: "registers per thread 96 to 128".
func (c Change) String() string {
	if c.Before == nil || c.After == nil {
		return c.About
	}
	return c.About + " " + inWords(*c.Before, c.Unit) + " to " + inWords(*c.After, c.Unit)
}

// measured is the Timer of times taken without a profiler.
const measured = "measured"

// Relative differences below which times count as equal. Times under a profiler are less exact.
const (
	sameMeasured = 0.005
	sameProfiled = 0.02
)

// Explain returns the diagnosis of a profile and, if there is one of before, the difference. If the
// two cannot be compared, it returns an error with the diagnosis.
func (rs *RuleSet) Explain(before *Subject, after Subject) (Diagnosis, *Difference, error) {
	d := rs.Diagnose(after)
	if before == nil {
		return d, nil, nil
	}
	diff, err := Compare(*before, after)
	return d, diff, err
}

// Compare returns what changed from one side of a case to the other. It fails
// if the profiles cannot be compared.
func Compare(before, after Subject) (*Difference, error) {
	if before.Profile != nil && after.Profile != nil {
		if err := profile.Comparable(before.Profile, after.Profile); err != nil {
			return nil, fmt.Errorf("cannot compare the profiles: %w", err)
		}
	}
	known, err := allCauses()
	if err != nil {
		return nil, err
	}
	a, b := newSide(before), newSide(after)
	d := &Difference{Identical: identical(a, b), Changes: changes(a.values, b.values)}
	d.Before, d.After, d.Timer = times(before, after)
	if d.Timer != measured && isTime(a.traced) && isTime(b.traced) {
		d.Before, d.After = a.traced, b.traced
	}
	blind := isTime(a.traced) && isTime(b.traced) && !seesInside(a.values) && !seesInside(b.values)
	change := math.Log(d.After / d.Before)
	if d.Timer == "" {
		change = hostChange(a.values, b.values) // NaN if either has nothing counted
	}
	same := sameProfiled
	if d.Timer == measured {
		same = sameMeasured
	}
	profiled := math.Log(after.Facts["time_ns"] / before.Facts["time_ns"])
	switch {
	case math.IsNaN(change):
		d.Sentence = "The two sides have no times to compare, so no change can be explained; the quantities that changed are listed."
	case math.Abs(change) < same:
		d.Sentence = sentence(unchanged(d))
	case change > 0:
		d.Causes = explain(known, a.values, b.values, profiledChange(change, profiled), d.Identical, slower)
		d.setSentences(change, profiled, blind)
	default:
		d.Causes = explain(known, b.values, a.values, profiledChange(-change, -profiled), d.Identical, faster)
		d.setSentences(change, profiled, blind)
	}
	return d, nil
}

// profiledChange returns the change that the factors of a profile add up to: that of the time under the
// profiler, with its own clocks and caches, if it went the same way.
func profiledChange(change, profiled float64) float64 {
	if profiled > sameProfiled && !math.IsInf(profiled, 1) {
		return profiled
	}
	return change
}

// times returns the times of both sides by the same timer; zero if there is no common one.
func times(before, after Subject) (a, b float64, timer string) {
	if before.Profile != nil && after.Profile != nil {
		a, b = before.Profile.Subject.Nanoseconds, after.Profile.Subject.Nanoseconds
		if isTime(a) && isTime(b) {
			return a, b, measured
		}
	}
	a, b = before.Facts["time_ns"], after.Facts["time_ns"]
	if !isTime(a) || !isTime(b) {
		return 0, 0, ""
	}
	if after.Profile == nil || after.Profile.Tool.Name == "" {
		return a, b, "profiler"
	}
	return a, b, after.Profile.Tool.Name
}

func isTime(x float64) bool { return x > 0 && !math.IsInf(x, 1) }

// unchanged returns the sentence for equal times.
func unchanged(d *Difference) string {
	if d.Timer == "" {
		return "no notable change"
	}
	s := fmt.Sprintf("no notable change: %s, was %s", inWords(d.After, "ns"), inWords(d.Before, "ns"))
	if d.Identical {
		s += "; the machine code is identical"
	}
	return s
}

// setSentences sets Sentence and Because: how much, why, and what to try.
func (d *Difference) setSentences(change, profiled float64, blind bool) {
	much := words.Change(math.Exp(change))
	if d.Timer == "" {
		much = "judging by the counts of instructions and misses, " + much
	} else {
		much += fmt.Sprintf(" (%s, was %s)", inWords(d.After, "ns"), inWords(d.Before, "ns"))
	}
	why := d.reason(profiled, blind)
	d.Sentence, d.Reason = sentence(much+": "+why), sentence(why)
}

// reason returns why, and what to try. blind means that the tool saw launches but nothing inside them.
func (d *Difference) reason(profiled float64, blind bool) string {
	switch {
	case len(d.Causes) == 0 && d.Identical:
		return "the machine code is identical: check the clocks, the data and the machine"
	case len(d.Causes) == 0 && math.Abs(profiled) < sameProfiled:
		return "under the profiler both take the same time: check the clocks, what happens between the launches, and other work on the machine"
	case len(d.Causes) == 0 && blind:
		return "the time is spent inside the kernels, where this tool cannot see: check what changed in their source, in their inputs and on the machine"
	case len(d.Causes) == 0:
		return "nothing in this profile explains it; profile both sides with the full set of metrics"
	}
	first := d.Causes[0]
	why := strings.TrimSuffix(lowerFirst(first.Sentence), ".")
	if d.Identical {
		why = "the machine code is identical, but " + why
	}
	if len(first.Fixes) > 0 {
		why += "; try first: " + lowerFirst(strings.TrimSuffix(first.Fixes[0].Do, "."))
	}
	return why
}

// seesInside reports whether anything was counted inside a kernel.
func seesInside(v values) bool {
	return slices.ContainsFunc([]string{"sm_pct", "memory_pct", "instructions", "host_instructions"}, func(name string) bool {
		_, ok := v.get(name)
		return ok
	})
}

// lowerFirst starts a clause with a lower-case letter; a name in capitals stays.
func lowerFirst(s string) string {
	if len(s) < 2 || s[0] < 'A' || s[0] > 'Z' || s[1] != ' ' && (s[1] < 'a' || s[1] > 'z') {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}
