package cli

import (
	"context"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/shell"
)

// What pawl init --github asks git.

// release is the form of a version that was released; any other was built by somebody.
var release = lazyregexp.New(`^[0-9]+\.[0-9]+\.[0-9]+$`)

const ownRepository = "goatnote-inc/pawl"

var fullCommit = lazyregexp.New(`^[0-9a-f]{40}$`)

// ownAction is the action that installs this pawl, and what its commit is called. A
// release cannot know its own commit, as that holds its checksum: GitHub is asked. Where
// nobody tells, the tag has to do, and doctor --github says so.
func ownAction(ctx context.Context) (action, tag string) {
	if tag = "v" + Version(); release.MatchString(Version()) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		out, err := gitOutput(ctx, ".", "ls-remote", "https://github.com/"+ownRepository, "refs/tags/"+tag, "refs/tags/"+tag+"^{}")
		if lines := strings.Split(strings.TrimSpace(out), "\n"); err == nil {
			commit, _, _ := strings.Cut(lines[len(lines)-1], "\t") // the last one is what an annotated tag points at
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

// defaultBranch is that of origin, or the branch that is checked out.
func defaultBranch(ctx context.Context, root, otherwise string) string {
	if out, err := gitOutput(ctx, root, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"); err == nil {
		if _, name, ok := strings.Cut(strings.TrimSpace(out), "/"); ok {
			return name
		}
	}
	if out, err := gitOutput(ctx, root, "symbolic-ref", "--quiet", "--short", "HEAD"); err == nil && strings.TrimSpace(out) == "master" {
		return "master"
	}
	return otherwise
}

func gitOutput(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	cmd.Env = append(shell.Environ(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	cmd.WaitDelay = shell.Grace
	out, err := cmd.Output()
	return string(out), err
}
