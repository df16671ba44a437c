package discover

import (
	"fmt"
	"strings"
)

// Explain describes each sighting, the evidence for it, and what was assumed.
func (s Survey) Explain() string {
	var b strings.Builder
	for _, x := range s.Sightings {
		if x.Level == Kernel { // its source does not exist yet
			fmt.Fprintf(&b, "%s without a harness or benchmark\n", x.What)
		} else {
			fmt.Fprintf(&b, "%s: %s\n", x.Source, x.What)
		}
		width := 0
		for _, e := range x.Evidence {
			width = max(width, len(e.Place()))
		}
		for _, e := range x.Evidence {
			fmt.Fprintf(&b, "  %-*s  %s\n", width, e.Place(), e.Says)
		}
		for _, d := range x.Doubts {
			fmt.Fprintf(&b, "  note: %s\n", d)
		}
	}
	if len(s.Sightings) == 0 {
		fmt.Fprintf(&b, "files read: %d; no kernel, harness or benchmark among them\n", s.Files)
	}
	const most = 10
	for _, dir := range s.Suites[:min(len(s.Suites), most)] {
		fmt.Fprintf(&b, "%s/pawl.yaml: a separate suite (pawl -C %s)\n", dir, dir)
	}
	if n := len(s.Suites) - most; n > 0 {
		fmt.Fprintf(&b, "and %d more suites\n", n)
	}
	if s.Odd > 0 {
		fmt.Fprintf(&b, "note: skipped because a shell could misread their names: %d\n", s.Odd)
	}
	if s.Cut != "" {
		fmt.Fprintf(&b, "note: %s\n", s.Cut)
	}
	return b.String()
}

// Place returns the position of the evidence as PATH:LINE, which editors understand.
func (e Evidence) Place() string {
	if e.Line == 0 {
		return e.Path
	}
	return fmt.Sprintf("%s:%d", e.Path, e.Line)
}
