package discover

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// combine returns one sighting for several benchmarks: those that this machine can build and that
// print the same format as the first of them. The others are mentioned.
func combine(list []Finding, here func(program string) bool) Finding {
	slices.SortStableFunc(list, func(a, b Finding) int { return missing(a, here) - missing(b, here) })
	first := list[0]
	var together, left []Finding
	for _, x := range list {
		if x.joins(first) && missing(x, here) == missing(first, here) && len(together) < maxTogether {
			together = append(together, x)
		} else {
			left = append(left, x)
		}
	}
	out := first
	if len(together) > 1 {
		out = joined(together)
	}
	if len(left) > 0 {
		out.LeftOut = leftOut(left, here)
	}
	return out
}

// missing returns 1 for a sighting whose program does not exist on this machine, otherwise 0.
func missing(x Finding, here func(program string) bool) int {
	if here == nil || x.Needs == "" || here(x.Needs) {
		return 0
	}
	return 1
}

// leftOut says which benchmarks are not in the suite.
func leftOut(list []Finding, here func(program string) bool) string {
	const most = 3
	var names []string
	for _, x := range list[:min(len(list), most)] {
		name := x.Source
		if missing(x, here) > 0 {
			name += " (needs " + x.Needs + ")"
		}
		names = append(names, name)
	}
	if len(list) > most {
		names = append(names, "...")
	}
	return fmt.Sprintf("not in this suite: %s; pawl init --force SOURCE writes a suite for one of them", strings.Join(names, ", "))
}

// joins reports whether two benchmarks can be measured by one command.
func (s Finding) joins(first Finding) bool {
	if s.Harness.Format != first.Harness.Format {
		return false
	}
	switch s.Harness.Format {
	case "go", suite.Python: // their case names say where they come from
		return true
	case "lines", "google-benchmark", "nvbench": // each writes a file
		return s.program != "" && first.program != ""
	}
	return s.Source == first.Source
}

// joined returns the sighting that runs several benchmarks in turn. Benchmarks whose case names could be
// equal write one file each, and the name of the file becomes part of the case.
func joined(list []Finding) Finding {
	out := list[0]
	out.What = fmt.Sprintf("%d benchmarks, the first is %s", len(list), out.What)
	out.Evidence, out.Files, out.Makes, out.Doubts, out.cmake = nil, nil, nil, nil, nil
	out.Build.Outputs = nil
	apart := out.Harness.Format != "go" && out.Harness.Format != suite.Python
	out.Cases = joinCases(list, apart)
	extension := ".json"
	if out.Harness.Format == "lines" {
		extension = ".txt"
	}
	var builds, runs []string
	names := map[string]bool{}
	for _, x := range list {
		for _, step := range x.steps() {
			if !slices.Contains(builds, step) {
				builds = append(builds, step)
			}
		}
		out.Evidence, out.Files = append(out.Evidence, x.Evidence...), append(out.Files, x.Files...)
		out.Makes, out.cmake = append(out.Makes, x.Makes...), append(out.cmake, x.cmake...)
		out.Build.Outputs = append(out.Build.Outputs, x.Build.Outputs...)
		for _, d := range x.Doubts {
			if !slices.Contains(out.Doubts, d) {
				out.Doubts = append(out.Doubts, d)
			}
		}
		if x.Harness.Pattern != out.Harness.Pattern {
			out.Harness.Pattern = ""
		}
		run := x.Harness.Command
		if apart {
			name := path.Base(x.program)
			if names[name] {
				name = strings.ReplaceAll(x.program, "/", "-")
			}
			names[name] = true
			if result := resultPrefix + name + extension; x.Harness.Output == "" {
				run += " > " + result
			} else {
				run = strings.ReplaceAll(run, x.Harness.Output, result)
			}
		}
		runs = append(runs, run)
	}
	out.Build.Command, out.Harness.Command = strings.Join(builds, " && "), strings.Join(runs, " && ")
	slices.Sort(out.Makes)
	out.Makes = slices.Compact(out.Makes)
	if apart {
		out.Harness.Output = resultPrefix + "*" + extension
		out.Makes = append(out.Makes, out.Harness.Output+"*")
	}
	return out
}

// steps returns the commands of a build that can be shared with another one.
func (s Finding) steps() []string {
	switch {
	case s.Build.Command == "":
		return nil
	case len(s.cmake) > 0:
		return strings.Split(s.Build.Command, " && ")
	default:
		return []string{s.Build.Command}
	}
}

// resultPrefix starts the names of result files that pawl chooses.
const resultPrefix = "pawl-"

// joinCases returns the cases of several benchmarks. It lists them only if all benchmarks do, because a suite that lists
// cases measures no others.
func joinCases(list []Finding, apart bool) (c Cases) {
	for _, x := range list {
		apart = apart || len(x.Cases.Listed) == 0
		c.Definition = append(c.Definition, x.Cases.Definition...)
		c.Listed = append(c.Listed, x.Cases.Listed...)
	}
	if apart {
		c.Listed = nil
	}
	return c
}
