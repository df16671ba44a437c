package claim

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// Terms are what a change is held to. All of it is the base's, or the forge's word.
type Terms struct {
	Suite *suite.Suite             // the base's
	Heads []string                 // commits that the change is
	Base  func(commit string) bool // tells whether the change may be compared with a commit
	// Definition is what the change's suite says otherwise than the base's, as the forge
	// shows it. What the record adds to that counts as well.
	Definition *measure.Definition
}

// Elsewhere says in what a record is not of this change, or not measured as the base
// asks; nil when nothing speaks against it. Such a record tells nothing, good or bad.
func (c Claim) Elsewhere(t Terms) []string {
	var list []string
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	candidate, base := c.side(measure.Candidate), c.side(measure.Base)
	switch {
	case candidate == nil || base == nil:
		return []string{"the record has not both sides, candidate and base"}
	case !slices.Contains(t.Heads, candidate.Commit):
		say("the candidate is commit %q, the change is %.12s", short(candidate.Commit), t.Heads[0])
	case candidate.Dirty || base.Dirty:
		say("a side was built from a tree with other changes")
	}
	if !t.Base(base.Commit) {
		say("the base is commit %q, which is not where the change began", short(base.Commit))
	}
	if want := cmp.Or(t.Suite.Trust, measure.Trusted); cmp.Or(c.Run.Trust, measure.Trusted) != want {
		say("it was measured with trust %q, the base's suite asks for %q", short(string(c.Run.Trust)), want)
	}
	if kind := t.Suite.Device.Kind; kind != "" && c.Run.Device.Kind != kind {
		say("it was measured on a device of kind %q, the base's suite asks for %q", short(string(c.Run.Device.Kind)), kind)
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
