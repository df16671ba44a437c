package suite

import (
	"regexp"

	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
)

// Profile defines what to profile. Unset fields are empty.
type Profile struct {
	Kernel string // regular expression over the names of kernels
	NVTX   string // range that marks the part to profile
	Set    string // "full" or "cheap"
}

// Profile returns what to profile for a config.
func (b Benchmark) Profile(p Params) Profile {
	if b.doc == nil {
		return Profile{}
	}
	d := b.doc.Profile
	return Profile{Kernel: fill(d.Kernel.string, orNone(p)), NVTX: fill(d.NVTX.string, orNone(p)), Set: string(d.Set)}
}

func (r *resolver) checkProfile(e *entry[benchmarkDoc], params []string) {
	d := e.value.Profile
	r.checkPlaceholders(e, params, d.Kernel, d.NVTX)
}

// tryProfile reports a kernel pattern that is not a valid regular expression once filled in.
func (r *resolver) tryProfile(e *entry[benchmarkDoc], c Config, seen map[*strictyaml.Node]bool) {
	d := e.value.Profile.Kernel
	if d.string == "" || seen[d.at] {
		return
	}
	if _, err := regexp.Compile(fill(d.string, orNone(c.Params))); err != nil {
		seen[d.at] = true
		r.Add(d.at, "a plain name matches itself; put a \\ before special characters", "kernel of config %s: %v", c.Name, err)
	}
}
