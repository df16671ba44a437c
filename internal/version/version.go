// Package version knows what a binary of this repository calls itself. pawl and pawld are
// released together and have one number. It must not know what either of them does.
package version

import (
	"runtime/debug"
	"strings"

	"github.com/goatnote-inc/pawl/internal/lazyregexp"
)

// released is set by the linker in releases (.goreleaser.yaml).
var released string

// Next is what is being worked on: a build that is no release comes before it.
const Next = "0.1.0"

var release = lazyregexp.New(`^[0-9]+\.[0-9]+\.[0-9]+$`)

// Version is what this binary is: 0.1.0 for a release and for go install of its tag,
// 0.1.0-dev+COMMIT for what somebody built.
func Version() string {
	info, _ := debug.ReadBuildInfo()
	return of(released, info)
}

// Commit is what the binary was built from; empty in a release, whose commit holds its
// checksum.
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
