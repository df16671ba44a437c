package start

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/forge/workflow"
)

// versionFinding is something that does not match this version of pawl.
type versionFinding struct {
	File    string `json:"file,omitempty"`
	Message string `json:"message"`
	Bad     bool   `json:"bad"` // outside what docs/reference/versions.md promises
}

// usesAction matches a hand-written workflow step that installs pawl.
var usesAction = lazyregexp.New(`uses:\s*` + workflow.OwnRepository + `(?:/[^\s@]+)?@v?([0-9]+\.[0-9]+\.[0-9]+[0-9A-Za-z.+-]*)`)

// versionFindings compares a version with the workflows of a repository and the newest release.
func versionFindings(own, latest string, files map[string][]byte) []versionFinding {
	this, ok := parseVersion(own)
	if !ok {
		return []versionFinding{{Message: fmt.Sprintf("this pawl has the version %s, which is not valid", own)}}
	}
	var list []versionFinding
	for _, name := range slices.Sorted(maps.Keys(files)) {
		add := func(bad bool, format string, args ...any) {
			list = append(list, versionFinding{File: name, Bad: bad, Message: name + " " + fmt.Sprintf(format, args...)})
		}
		stamp, written := workflow.ReadStamp(files[name])
		if by, ok := parseVersion(stamp.Version); written && ok {
			switch {
			case by.compareMinor(this) > 0:
				add(true, "was written by pawl %s: use that version or a newer one", stamp.Version)
			case by.compareMinor(this) < 0:
				add(false, "was written by pawl %s: it works; run `pawl init --github --upgrade` to update it", stamp.Version)
			}
		}
		installs := map[string]bool{}
		if written {
			installs[stamp.Settings.Install] = true
		}
		for _, m := range usesAction.FindAllSubmatch(files[name], 20) {
			installs[string(m[1])] = true
		}
		for _, v := range slices.Sorted(maps.Keys(installs)) {
			if pinned, ok := parseVersion(v); ok && pinned.compare(this) != 0 {
				add(false, "installs pawl %s, but this is %s", v, own)
			}
		}
	}
	if newest, ok := parseVersion(latest); ok && newest.compare(this) > 0 {
		list = append(list, versionFinding{Message: fmt.Sprintf("pawl %s is the newest release, but this is %s", latest, own)})
	}
	return list
}

// versionNumber is the version of a release or of a pre-release.
type versionNumber struct {
	major, minor, patch int
	prerelease          string // "dev" in 0.1.0-dev
}

var versionForm = lazyregexp.New(`^v?(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})\.(0|[1-9][0-9]{0,5})(?:-([0-9A-Za-z.-]{1,60}))?(?:\+[0-9A-Za-z.-]{1,60})?$`)

func parseVersion(s string) (versionNumber, bool) {
	m := versionForm.FindStringSubmatch(s)
	if m == nil {
		return versionNumber{}, false
	}
	number := func(s string) int { n, _ := strconv.Atoi(s); return n } // up to six digits: Atoi cannot fail
	return versionNumber{number(m[1]), number(m[2]), number(m[3]), m[4]}, true
}

// compareMinor compares major and minor versions, on which the compatibility promises depend.
func (v versionNumber) compareMinor(w versionNumber) int {
	return cmp.Or(cmp.Compare(v.major, w.major), cmp.Compare(v.minor, w.minor))
}

// compare orders versions. Pre-releases of the same release are ordered by their text, which is enough
// to tell that they differ.
func (v versionNumber) compare(w versionNumber) int {
	if c := cmp.Or(v.compareMinor(w), cmp.Compare(v.patch, w.patch)); c != 0 || v.prerelease == w.prerelease {
		return c
	}
	switch {
	case v.prerelease == "":
		return 1
	case w.prerelease == "":
		return -1
	}
	return strings.Compare(v.prerelease, w.prerelease)
}
