package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
		case dirty:
			return head, "HEAD", nil
		}
		if parent, err := r.Commit(ctx, "HEAD~1"); err == nil {
			return parent, "HEAD~1", nil
		}
	}
	return "", "", errors.New("no commit to compare with: the branch has no merge base with main, and no parent")
}

// Worktree is a commit checked out beside the working tree.
type Worktree struct {
	Dir    string
	Commit string
	repo   *Repository
}

// Checkout makes a fresh worktree of a ref inside the git folder, where it
// neither shows up in the user's tree nor in its status.
func (r *Repository) Checkout(ctx context.Context, ref string) (*Worktree, error) {
	commit, err := r.Commit(ctx, ref)
	if err != nil {
		return nil, err
	}
	parent := filepath.Join(r.git, "pawl")
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, fmt.Errorf("check out %s: %w", ref, err)
	}
	r.removeAbandoned(ctx, parent)
	dir := filepath.Join(parent, fmt.Sprintf("base-%d-%.12s", os.Getpid(), commit))
	if _, err := git(ctx, r.Root, "worktree", "add", "--detach", "--force", dir, commit); err != nil {
		return nil, fmt.Errorf("check out %s beside the working tree: %w", ref, err)
	}
	w := &Worktree{Dir: dir, Commit: commit, repo: r}
	if _, err := os.Stat(filepath.Join(dir, ".gitmodules")); err == nil {
		if _, err := git(ctx, dir, "submodule", "update", "--init", "--recursive"); err != nil {
			return nil, errors.Join(fmt.Errorf("check out the submodules of %s: %w", ref, err), w.Remove(ctx))
		}
	}
	return w, nil
}

// Remove deletes the worktree.
func (w *Worktree) Remove(ctx context.Context) error {
	if _, err := git(ctx, w.repo.Root, "worktree", "remove", "--force", "--force", w.Dir); err != nil {
		return fmt.Errorf("remove the checkout of the base: %w", err)
	}
	return nil
}

// removeAbandoned deletes worktrees whose pawl is gone: one that was killed
// could not do it itself.
func (r *Repository) removeAbandoned(ctx context.Context, parent string) {
	entries, err := os.ReadDir(parent)
	if err != nil {
		return
	}
	for _, e := range entries {
		var pid int
		if _, err := fmt.Sscanf(e.Name(), "base-%d-", &pid); err != nil || pid == os.Getpid() || alive(pid) {
			continue
		}
		dir := filepath.Join(parent, e.Name())
		if _, err := git(ctx, r.Root, "worktree", "remove", "--force", "--force", dir); err != nil {
			_ = os.RemoveAll(dir)
		}
	}
	_, _ = git(ctx, r.Root, "worktree", "prune")
}

func alive(pid int) bool {
	_, err := os.Stat(fmt.Sprintf("/proc/%d", pid))
	return err == nil
}

// git runs one git command. Hooks and configuration that could run a stranger's
// program on checkout are left out.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	safe := []string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "protocol.ext.allow=never"}
	cmd := exec.CommandContext(ctx, "git", append(safe, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C")
	out, err := cmd.Output()
	if err != nil {
		detail := err.Error()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && len(exit.Stderr) > 0 {
			detail = strings.TrimSpace(string(exit.Stderr))
		}
		return "", fmt.Errorf("git %s: %s", args[0], detail)
	}
	return strings.TrimSpace(string(out)), nil
}
