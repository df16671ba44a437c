package build

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/internal/shell"
)

// Repository is a git working tree.
type Repository struct {
	Root string // top of the working tree
	git  string // the folder shared by all its worktrees
}

// ErrNoRepository says that a folder is not in a git working tree.
var ErrNoRepository = errors.New("not in a git repository")

// Open finds the repository that dir belongs to.
func Open(ctx context.Context, dir string) (*Repository, error) {
	root, err := git(ctx, dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, errors.Join(ErrNoRepository, err))
	}
	common, err := git(ctx, dir, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return nil, err
	}
	return &Repository{Root: root, git: common}, nil
}

// Metadata is the folder in which git keeps what all working trees of the repository share.
func (r *Repository) Metadata() string { return r.git }

// Commit resolves a ref to a commit.
func (r *Repository) Commit(ctx context.Context, ref string) (string, error) {
	if strings.HasPrefix(ref, "-") {
		return "", fmt.Errorf("%q is no ref", ref)
	}
	commit, err := git(ctx, r.Root, "rev-parse", "--verify", "--quiet", ref+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("there is no commit %q here: fetch it, or check its name with git log", ref)
	}
	return commit, nil
}

// Head is the commit of the working tree, and whether tracked files differ from it.
func (r *Repository) Head(ctx context.Context) (commit string, dirty bool, err error) {
	if commit, err = r.Commit(ctx, "HEAD"); err != nil {
		return "", false, err
	}
	changes, err := git(ctx, r.Root, "status", "--porcelain", "--untracked-files=no")
	return commit, changes != "", err
}

// Has tells whether a commit holds a file, which is named by its place in the
// working tree.
func (r *Repository) Has(ctx context.Context, commit, file string) bool {
	_, err := git(ctx, filepath.Dir(file), "cat-file", "-e", commit+":./"+filepath.Base(file))
	return err == nil
}

// MergeBase is what the working tree's change began from: where its branch left the
// main line, of which the first of the usual names that exists decides. On the main
// line itself that is the last commit, or the one before it when nothing has changed since.
func (r *Repository) MergeBase(ctx context.Context) (commit, with string, err error) {
	head, dirty, err := r.Head(ctx)
	if err != nil {
		return "", "", err
	}
	for _, with := range []string{"origin/HEAD", "origin/main", "origin/master", "main", "master"} {
		commit, err := git(ctx, r.Root, "merge-base", "HEAD", with)
		switch {
		case err != nil:
			continue
		case commit != head:
			return commit, with, nil
		}
		break // on the main line itself
	}
	if dirty { // a main line of another name: what is not committed is the change
		return head, "HEAD", nil
	}
	if parent, err := r.Commit(ctx, "HEAD~1"); err == nil {
		return parent, "HEAD~1", nil
	}
	return "", "", errors.New("no commit to compare with: this is the first one")
}

// Onto tells whether HEAD, without other changes, is the tip of a branch here or on
// the remote: a push to it is what CI has checked out.
func (r *Repository) Onto(ctx context.Context, branch string) bool {
	head, dirty, err := r.Head(ctx)
	if err != nil || dirty || branch == "" {
		return false
	}
	for _, ref := range []string{"refs/heads/" + branch, "refs/remotes/origin/" + branch} {
		if tip, err := r.Commit(ctx, ref); err == nil && tip == head {
			return true
		}
	}
	return false
}

// User is the name git puts on commits here; empty if it knows none.
func (r *Repository) User(ctx context.Context) string {
	name, _ := git(ctx, r.Root, "config", "user.name")
	return name
}

// git runs one git command. Hooks and configuration that could run a stranger's
// program on checkout are left out.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	safe := []string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "protocol.ext.allow=never"}
	cmd := exec.CommandContext(ctx, "git", append(safe, args...)...)
	cmd.Dir = dir
	cmd.Env = append(shell.Environ(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && len(exit.Stderr) > 0 {
			return "", fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
		}
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// ChangedSince reports whether a commit of HEAD's history that is not part of commit's changed one
// of the files, which are named by their places in the working tree.
func (r *Repository) ChangedSince(ctx context.Context, commit string, files []string) (bool, error) {
	if _, err := r.Commit(ctx, commit); err != nil {
		return false, err
	}
	args := []string{"--literal-pathspecs", "log", "--full-history", "--max-count=1", "--format=%H", commit + "..HEAD", "--"}
	for _, f := range files {
		path, err := filepath.Abs(f)
		if err != nil {
			return false, err
		}
		args = append(args, path)
	}
	out, err := git(ctx, r.Root, args...)
	return out != "", err
}

// Contains tells whether a commit is on a branch, here or on the remote.
func (r *Repository) Contains(ctx context.Context, branch, commit string) bool {
	if branch == "" {
		return false
	}
	for _, ref := range []string{"refs/remotes/origin/" + branch, "refs/heads/" + branch} {
		if _, err := git(ctx, r.Root, "merge-base", "--is-ancestor", commit, ref); err == nil {
			return true
		}
	}
	return false
}

// Tracks reports whether git tracks any file of a folder of the repository.
func (r *Repository) Tracks(ctx context.Context, folder string) bool {
	files, err := git(ctx, r.Root, "ls-files", "-z", "--", folder)
	return err != nil || files != ""
}
