package doctor

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/internal/kernel/build"
)

// git reports whether a base can be checked out beside the working tree.
func git(ctx context.Context, e *exam) []Finding {
	if _, found := e.search(nil).Find("git"); !found {
		return []Finding{warn("git", "not found: pawl bench --base and the commit in the record need it").withFix("%s", e.install("git"))}
	}
	repo, err := build.Open(ctx, e.dir())
	switch {
	case err != nil && strings.Contains(err.Error(), "dubious ownership"):
		return []Finding{warn("git", "git does not trust this repository, because it belongs to another user").
			withFix("git config --global --add safe.directory %s", absolute(e.dir()))}
	case err != nil:
		return []Finding{note("git", "this folder is not in a git repository: there is no base to measure against").withFix("run git init and commit")}
	}
	if _, err := os.Stat(filepath.Join(repo.Root, ".git", "shallow")); err == nil {
		return []Finding{warn("git", "the repository is a shallow clone: the base may not be in it").
			withFix("git fetch --unshallow; in CI: check out with fetch-depth: 0")}
	}
	commit, dirty, err := repo.Head(ctx)
	switch {
	case err != nil:
		return []Finding{note("git", "the repository has no commit yet: there is no base to measure against").withFix("git commit")}
	case dirty:
		return []Finding{ok("git", "at %.12s with uncommitted changes; the record says so", commit)}
	default:
		return []Finding{ok("git", "at %.12s", commit)}
	}
}

func absolute(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}
