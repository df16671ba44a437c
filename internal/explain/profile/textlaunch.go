package profile

import (
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// The line that names a launch ends in parts that differ between releases:
//
//	kernel(float *), 2022-Apr-04 12:02:38, Context 1, Stream 7
//	kernel(float *), Block Size 64, Grid Size 1, Device 0, 1 invocations
//	kernel(float *) (64, 32, 1)x(256, 1, 1), Context 1, Stream 7, Device 0, CC 8.9
//	kernel(float *) (64, 32, 1)x(256, 1, 1), Device 0, CC 8.9, Invocations 1
var (
	launchPart = lazyregexp.New(`^(Context|Stream|Device|CC|Invocations|Block Size|Grid Size) (\S+)$`)
	countPart  = lazyregexp.New(`^(\d+) invocations?$`)
	timePart   = lazyregexp.New(`^\d{4}-\w{3}-\d{2} \d{2}:\d{2}:\d{2}$`)
	shapePart  = lazyregexp.New(`^(.*) (\(\d+, \d+, \d+\))x(\(\d+, \d+, \d+\))$`)
	devicePart = lazyregexp.New(`^Device (\d+)$`)
)

// launch parses such a line, and reports whether it is one.
func (t *textPage) launch(s string) bool {
	if found := devicePart.FindStringSubmatch(s); found != nil {
		t.device = []Field{{"Device", found[1]}}
		return true
	}
	l := Launch{ID: len(t.profile.Launches), Fields: slices.Concat(t.process, t.device)}
	var parts []Field
	for {
		at := strings.LastIndex(s, ", ")
		if at < 0 {
			break
		}
		part, ok := partOf(s[at+2:])
		if !ok {
			break
		}
		parts = append(parts, part)
		s = s[:at]
	}
	if len(parts) == 0 {
		return false
	}
	slices.Reverse(parts)
	for _, part := range parts {
		if part.Name == "CC" {
			l.CC = part.Text
			continue
		}
		l.Fields = append(l.Fields, part)
	}
	if found := shapePart.FindStringSubmatch(s); found != nil {
		grid, ok := parseDims(found[2])
		block, known := parseDims(found[3])
		if ok && known {
			s, l.Grid, l.Block = found[1], grid, block
		}
	}
	l.Kernel = s
	t.section = ""
	t.profile.Launches = append(t.profile.Launches, l)
	return true
}

func partOf(s string) (Field, bool) {
	if found := launchPart.FindStringSubmatch(s); found != nil {
		return Field{found[1], found[2]}, true
	}
	if found := countPart.FindStringSubmatch(s); found != nil {
		return Field{"Invocations", found[1]}, true
	}
	return Field{"Kernel Time", s}, timePart.MatchString(s)
}
