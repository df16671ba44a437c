// Package version reports the version of a binary of this repository. pawl and pawld are
// released together and share one version number. It must not know what either of them does.
package version

import (
	"runtime/debug"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// released is the version of a release, set by the linker (scripts/release).
var released string

// Next is the version under development. A build that is not a release precedes it.
const Next = "0.1.0"

var release = lazyregexp.New(`^[0-9]+\.[0-9]+\.[0-9]+$`)

// Version returns the version of this binary: 0.1.0 for a release and for go install of its
// tag, 0.1.0-dev+COMMIT for any other build.
func Version() string {
	info, _ := debug.ReadBuildInfo()
	return of(released, info)
}

// Commit returns the commit that the binary was built from. It is empty in a release, whose
// commit holds its checksum.
func Commit() string {
	info, _ := debug.ReadBuildInfo()
	return commit(info)
}

func of(released string, info *debug.BuildInfo) string {
	if released != "" {
		return released
	}
	if info == nil {
		return Next + "-dev"
	}
	if v := strings.TrimPrefix(info.Main.Version, "v"); release.MatchString(v) {
		return v
	}
	if c := commit(info); c != "" {
		return Next + "-dev+" + c[:min(12, len(c))]
	}
	return Next + "-dev"
}

func commit(info *debug.BuildInfo) string {
	if info == nil {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
