package ratchet

import (
	"path"
	"strings"
)

// matches tells whether a case fits a glob, as everywhere in pawl: one without a
// slash is matched with the benchmark, one with a slash with the whole name.
func matches(glob, name string) bool {
	if ok, _ := path.Match(glob, name); ok {
		return true
	}
	benchmark, _, _ := strings.Cut(name, "/")
	ok, _ := path.Match(glob, benchmark)
	return ok
}
