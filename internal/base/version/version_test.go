package version

import (
	"runtime/debug"
	"testing"
)

func TestOf(t *testing.T) {
	built := func(version string, settings ...debug.BuildSetting) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: settings}
	}
	commit := debug.BuildSetting{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"}
	for _, tc := range []struct {
		name, released, want string
		info                 *debug.BuildInfo
	}{
		{"a release", "0.3.1", "0.3.1", built("(devel)")},
		{"go install of a tag", "", "0.3.1", built("v0.3.1")},
		{"go build of a tag", "", "0.3.1", built("v0.3.1", commit)},
		{"go install of main", "", Next + "-dev", built("v0.0.0-20261115120000-0123456789ab")},
		{"go build", "", Next + "-dev+0123456789ab", built("v0.3.2-0.20261115120000-0123456789ab+dirty", commit)},
		{"without a repository", "", Next + "-dev", built("(devel)")},
		{"without anything", "", Next + "-dev", nil},
	} {
		if got := of(tc.released, tc.info); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.name, got, tc.want)
		}
	}
}
