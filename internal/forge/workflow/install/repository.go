package install

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/base/version"
	"github.com/goatnote-inc/pawl/internal/forge/workflow"
	"github.com/goatnote-inc/pawl/internal/kernel/discover"
)

// Suites returns the folders of all suites that git tracks or does not ignore, the top one first.
func Suites(ctx context.Context, root string) ([]string, error) {
	out, err := shell.GitOutput(ctx, root, "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", discover.SuiteFile, "*/"+discover.SuiteFile)
	if err != nil {
		return nil, fmt.Errorf("cannot list the suites in %s: %w", root, err)
	}
	var list []string
	for name := range strings.SplitSeq(out, "\x00") {
		if path.Base(name) != discover.SuiteFile {
			continue
		}
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err == nil {
			list = append(list, path.Dir(name))
		}
	}
	slices.Sort(list)
	return slices.Compact(list), nil
}

// release matches the version of a release. Any other version is a local build.
var release = lazyregexp.New(`^[0-9]+\.[0-9]+\.[0-9]+$`)

var fullCommit = lazyregexp.New(`^[0-9a-f]{40}$`)

// ownAction returns the action that installs this pawl, pinned to a commit, and the tag of that commit.
// A release cannot contain its own commit, because the commit contains its checksum, so GitHub is asked.
// Without an answer the action is pinned to the tag, and doctor --github reports it.
func ownAction(ctx context.Context) (action, tag string) {
	if tag = "v" + version.Version(); release.MatchString(version.Version()) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		out, err := shell.GitOutput(ctx, ".", "ls-remote", "https://github.com/"+workflow.OwnRepository, "refs/tags/"+tag, "refs/tags/"+tag+"^{}")
		if lines := strings.Split(strings.TrimSpace(out), "\n"); err == nil {
			commit, _, _ := strings.Cut(lines[len(lines)-1], "\t") // the last line is the commit that an annotated tag points to
			if fullCommit.MatchString(commit) {
				return workflow.OwnRepository + "@" + commit, tag
			}
		}
		return workflow.OwnRepository + "@" + tag, ""
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && fullCommit.MatchString(s.Value) {
				return workflow.OwnRepository + "@" + s.Value, ""
			}
		}
	}
	version, _, _ := strings.Cut(tag, "+")
	return workflow.OwnRepository + "@" + version, ""
}

// defaultBranch returns the default branch of origin; or master if it is checked out; or else otherwise.
func defaultBranch(ctx context.Context, root, otherwise string) string {
	if out, err := shell.GitOutput(ctx, root, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"); err == nil {
		if _, name, ok := strings.Cut(strings.TrimSpace(out), "/"); ok {
			return name
		}
	}
	if out, err := shell.GitOutput(ctx, root, "symbolic-ref", "--quiet", "--short", "HEAD"); err == nil && strings.TrimSpace(out) == "master" {
		return "master"
	}
	return otherwise
}
