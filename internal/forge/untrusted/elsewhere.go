package untrusted

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// Terms are the requirements on a change. All of them come from the base or from the forge.
type Terms struct {
	Suite *suite.Suite             // of the base
	Heads []string                 // commits that are the change
	Base  func(commit string) bool // reports whether the change may be compared with a commit
	// Definition is how the change's suite differs from the base's, according to the forge.
	// Differences that the record lists count as well.
	Definition *measure.Definition
	Trust      measure.Trust // at which the change must have been measured; empty for that of the suite
}

// Elsewhere says why a record is not of this change, or was not measured as the base
// requires; nil if there is no objection. Such a record proves nothing, good or bad.
func (c Claim) Elsewhere(t Terms) []string {
	var list []string
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	candidate, base := c.side(measure.Candidate), c.side(measure.Base)
	switch {
	case candidate == nil || base == nil:
		return []string{"the record does not have both sides, candidate and base"}
	case !slices.Contains(t.Heads, candidate.Commit):
		say("the candidate is commit %q, but the change is %.12s", short(candidate.Commit), t.Heads[0])
	case candidate.Dirty || base.Dirty:
		say("a side was built from a tree with uncommitted changes")
	}
	if !t.Base(base.Commit) {
		say("the base is commit %q, which is not where the change started", short(base.Commit))
	}
	if want := cmp.Or(t.Trust, t.Suite.Trust, measure.Trusted); cmp.Or(c.Run.Trust, measure.Trusted) != want {
		say("it was measured with trust %q, but %q is required", short(string(c.Run.Trust)), want)
	}
	if kind := t.Suite.Device.Kind; kind != "" && c.Run.Device.Kind != kind {
		say("it was measured on a device of kind %q, but the base's suite requires %q", short(string(c.Run.Device.Kind)), kind)
	}
	return list
}

func short(s string) string { return s[:min(len(s), 12)] }

func (c Claim) side(name string) *measure.Implementation {
	i := slices.IndexFunc(c.Run.Implementations, func(im measure.Implementation) bool { return im.Name == name })
	if i < 0 {
		return nil
	}
	return &c.Run.Implementations[i]
}
