package diagnose

import (
	"strings"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// toolRule is a rule of the tool that corresponds to one of pawl's. The tool uses one ID for
// several findings, so words of its text distinguish them.
type toolRule struct {
	id   string
	says string // words in the text; empty for any
}

func (t toolRule) is(r profile.Rule) bool {
	return r.ID == t.id && (r.Kind == "OPT" || r.Kind == "WRN") &&
		(t.says == "" || strings.Contains(strings.ToLower(r.Text), strings.ToLower(t.says)))
}

// ofTool returns the tool's own finding for a rule: the one with the highest estimate for the whole
// runtime. Estimates for a section alone do not count.
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
