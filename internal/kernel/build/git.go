package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/shell"
)

// Repository is a git working tree.
type Repository struct {
	Root string // top of the working tree
	git  string // the git folder shared by all its worktrees
}

// ErrNoRepository reports that a folder is not in a git working tree.
var ErrNoRepository = errors.New("not in a git repository")

// Open returns the repository that contains dir.
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

// Metadata returns the git folder that all working trees of the repository share.
func (r *Repository) Metadata() string { return r.git }

// Inside returns the path of a file or folder in the working tree, with slashes. It resolves links, because git does too.
// A file that does not exist yet may be named if its folder exists.
func (r *Repository) Inside(path string) (string, error) {
	root, err := filepath.EvalSymlinks(r.Root)
	if err != nil {
		return "", err
	}
	named, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	absolute, err := filepath.EvalSymlinks(named)
	if errors.Is(err, fs.ErrNotExist) {
		absolute, err = filepath.EvalSymlinks(filepath.Dir(named))
		absolute = filepath.Join(absolute, filepath.Base(named))
	}
	if err != nil {
		return "", fmt.Errorf("cannot find %s in its repository: %w", path, err)
	}
	inside, err := filepath.Rel(root, absolute)
	if err != nil || !filepath.IsLocal(inside) {
		return "", fmt.Errorf("%s is not in the repository %s", path, root)
	}
	return filepath.ToSlash(inside), nil
}

// Commit resolves a ref to a commit.
func (r *Repository) Commit(ctx context.Context, ref string) (string, error) {
	if strings.HasPrefix(ref, "-") {
		return "", fmt.Errorf("%q is not a ref", ref)
	}
	commit, err := git(ctx, r.Root, "rev-parse", "--verify", "--quiet", ref+"^{commit}")
	if err != nil {
		return "", fmt.Errorf("there is no commit %q here: fetch it, or check its name with git log", ref)
	}
	return commit, nil
}

// Head returns the commit of the working tree, and whether tracked files differ from it.
func (r *Repository) Head(ctx context.Context) (commit string, dirty bool, err error) {
	if commit, err = r.Commit(ctx, "HEAD"); err != nil {
		return "", false, err
	}
	changes, err := git(ctx, r.Root, "status", "--porcelain", "--untracked-files=no")
	return commit, changes != "", err
}

// Has reports whether a commit contains a file, which is given by its path in the working tree.
func (r *Repository) Has(ctx context.Context, commit, file string) bool {
	_, err := git(ctx, filepath.Dir(file), "cat-file", "-e", commit+":./"+filepath.Base(file))
	return err == nil
}

// MergeBase returns the commit that the working tree's change started from: the merge base with
// the main branch, which is the first of the usual names that exists. On the main branch itself
// it is HEAD, or its parent if nothing has changed since HEAD.
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
		break // on the main branch itself
	}
	if dirty { // also for a main branch with another name: the uncommitted changes are the change
		return head, "HEAD", nil
	}
	if parent, err := r.Commit(ctx, "HEAD~1"); err == nil {
		return parent, "HEAD~1", nil
	}
	return "", "", errors.New("no commit to compare with: this is the first one")
}

// AtTipOf reports whether HEAD, without other changes, is the tip of a branch, local or remote. This
// is what CI checks out after a push to the branch.
func (r *Repository) AtTipOf(ctx context.Context, branch string) bool {
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

// Commits returns the commits after good up to and including bad, oldest first. Of a merge it follows the first parent, so
// that a merged branch counts as one commit.
func (r *Repository) Commits(ctx context.Context, good, bad string) ([]string, error) {
	if _, err := git(ctx, r.Root, "merge-base", "--is-ancestor", good, bad); err != nil {
		return nil, fmt.Errorf("%.12s is not an ancestor of %.12s: choose a good commit from the history of the slower one", good, bad)
	}
	out, err := git(ctx, r.Root, "rev-list", "--first-parent", "--reverse", good+".."+bad)
	return strings.Fields(out), err
}

// User returns git's user.name here; empty if unset.
func (r *Repository) User(ctx context.Context) string {
	name, _ := git(ctx, r.Root, "config", "user.name")
	return name
}

// git runs one git command and returns its output without surrounding spaces.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	out, err := gitInput(ctx, dir, nil, nil, args...)
	return strings.TrimSpace(string(out)), err
}

// gitInput runs one git command with more variables and an input. It disables hooks and configuration
// that could run untrusted programs on checkout.
func gitInput(ctx context.Context, dir string, env []string, input []byte, args ...string) ([]byte, error) {
	safe := []string{"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "protocol.ext.allow=never"}
	cmd := exec.CommandContext(ctx, "git", append(safe, args...)...)
	cmd.Dir = dir
	cmd.Env = append(append(shell.Environ(), "GIT_TERMINAL_PROMPT=0", "LC_ALL=C"), env...)
	if input != nil {
		cmd.Stdin = bytes.NewReader(input)
	}
	out, err := cmd.Output()
	if err != nil {
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && len(exit.Stderr) > 0 {
			return nil, fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
		}
		return nil, fmt.Errorf("git %s: %w", args[0], err)
	}
	return out, nil
}

// ChangedSince reports whether any commit in HEAD's history, but not in commit's, changed one of the
// files. Files are given by their paths in the working tree.
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

// Contains reports whether a commit is on a branch, local or remote.
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

// TrackedFiles returns the files below dir that git tracks, relative to dir.
func TrackedFiles(ctx context.Context, dir string) ([]string, error) {
	out, err := git(ctx, dir, "ls-files", "-z", "--cached")
	if err != nil {
		return nil, err
	}
	return strings.FieldsFunc(out, func(r rune) bool { return r == 0 }), nil
}

// Tracks reports whether git tracks any file in a folder of the repository. It is true if git fails.
func (r *Repository) Tracks(ctx context.Context, folder string) bool {
	files, err := git(ctx, r.Root, "ls-files", "-z", "--", folder)
	return err != nil || files != ""
}
