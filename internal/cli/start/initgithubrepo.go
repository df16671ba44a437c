package start

import (
	"context"
	"runtime/debug"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/version"
	"github.com/goatnote-inc/pawl/internal/cli/env"
)

// Information that pawl init --github gets from git.

// release matches the version of a release. Any other version is a local build.
var release = lazyregexp.New(`^[0-9]+\.[0-9]+\.[0-9]+$`)

const ownRepository = "goatnote-inc/pawl"

var fullCommit = lazyregexp.New(`^[0-9a-f]{40}$`)

// ownAction returns the action that installs this pawl, pinned to a commit, and the tag of that commit.
// A release cannot contain its own commit, because the commit contains its checksum, so GitHub is asked.
// Without an answer the action is pinned to the tag, and doctor --github reports it.
func ownAction(ctx context.Context) (action, tag string) {
	if tag = "v" + version.Version(); release.MatchString(version.Version()) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		out, err := env.GitOutput(ctx, ".", "ls-remote", "https://github.com/"+ownRepository, "refs/tags/"+tag, "refs/tags/"+tag+"^{}")
		if lines := strings.Split(strings.TrimSpace(out), "\n"); err == nil {
			commit, _, _ := strings.Cut(lines[len(lines)-1], "\t") // the last line is the commit that an annotated tag points to
			if fullCommit.MatchString(commit) {
				return ownRepository + "@" + commit, tag
			}
		}
		return ownRepository + "@" + tag, ""
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && fullCommit.MatchString(s.Value) {
				return ownRepository + "@" + s.Value, ""
			}
		}
	}
	version, _, _ := strings.Cut(tag, "+")
	return ownRepository + "@" + version, ""
}

// defaultBranch returns the default branch of origin; or master if it is checked out; or else otherwise.
func defaultBranch(ctx context.Context, root, otherwise string) string {
	if out, err := env.GitOutput(ctx, root, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"); err == nil {
		if _, name, ok := strings.Cut(strings.TrimSpace(out), "/"); ok {
			return name
		}
	}
	if out, err := env.GitOutput(ctx, root, "symbolic-ref", "--quiet", "--short", "HEAD"); err == nil && strings.TrimSpace(out) == "master" {
		return "master"
	}
	return otherwise
}
