package diagnose

import (
	"strings"

	"github.com/goatnote-inc/pawl/internal/profile"
)

// toolRule is a rule of the tool that finds the same as one of pawl's. The tool gives
// several findings one id, so that words of its text tell them apart.
type toolRule struct {
	id   string
	says string // words of the text; empty for any
}

func (t toolRule) is(r profile.Rule) bool {
	return r.ID == t.id && (r.Kind == "OPT" || r.Kind == "WRN") &&
		(t.says == "" || strings.Contains(strings.ToLower(r.Text), strings.ToLower(t.says)))
}

// ofTool finds what the tool itself says about a rule's subject: the finding with the
// highest estimate of the whole runtime. Estimates of a section alone do not count.
func (x *Rule) ofTool(rules []profile.Rule) (best profile.Rule, estimate float64, found bool) {
	for _, t := range x.tool {
		for _, r := range rules {
			if !t.is(r) {
				continue
			}
			e := 0.0
			if r.Speedup != nil && r.Scope == "global" {
				e = min(max(*r.Speedup/100, 0), 1)
			}
			if !found || e > estimate {
				best, estimate, found = r, e, true
			}
		}
	}
	return best, estimate, found
}
