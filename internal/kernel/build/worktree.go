package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Worktree is a commit checked out beside the working tree.
type Worktree struct {
	Dir    string
	Commit string
	repo   *Repository
	lock   *os.File // held while the worktree is in use
}

const worktreePrefix = "base-"

// Checkout creates a new worktree of a ref inside the git folder, where it appears neither in the
// user's tree nor in its status.
func (r *Repository) Checkout(ctx context.Context, ref string) (*Worktree, error) {
	commit, err := r.Commit(ctx, ref)
	if err != nil {
		return nil, err
	}
	parent := filepath.Join(r.git, "pawl")
	if err := os.MkdirAll(parent, 0o755); err != nil {
		return nil, fmt.Errorf("cannot check out %s: %w", ref, err)
	}
	r.removeAbandoned(ctx, parent)
	lock, err := lockNew(filepath.Join(parent, fmt.Sprintf("%s%.12s", worktreePrefix, commit)))
	if err != nil {
		return nil, fmt.Errorf("cannot check out %s: %w", ref, err)
	}
	w := &Worktree{Dir: strings.TrimSuffix(lock.Name(), ".lock"), Commit: commit, repo: r, lock: lock}
	if _, err := git(ctx, r.Root, "worktree", "add", "--detach", "--force", w.Dir, commit); err != nil {
		err = fmt.Errorf("cannot check out %s in a separate worktree: %w", ref, err)
		return nil, errors.Join(err, w.Remove(ctx)) // what git left would stop the next one
	}
	if err := r.checkOutSubmodules(ctx, w.Dir); err != nil {
		return nil, errors.Join(fmt.Errorf("cannot check out the submodules of %s: %w", ref, err), w.Remove(ctx))
	}
	return w, nil
}

// lockNew creates the lock file of a new worktree and locks it. A commit has the same folder each time, unless another
// process uses it: a build whose outputs contain the name of the folder then comes from the cache.
func lockNew(dir string) (*os.File, error) {
	for {
		lock, err := os.OpenFile(dir+".lock", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			lock, err = os.CreateTemp(filepath.Dir(dir), filepath.Base(dir)+"-*.lock")
		}
		if err != nil {
			return nil, err
		}
		if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
			return nil, errors.Join(err, lock.Close())
		}
		ours, err := lock.Stat()
		if err != nil {
			return nil, errors.Join(err, lock.Close())
		}
		if there, err := os.Stat(lock.Name()); err == nil && os.SameFile(ours, there) {
			return lock, nil
		}
		lock.Close() // another process took it for an abandoned one before it was locked, and removed it
	}
}

// Remove deletes the worktree, also after ctx was canceled. If it cannot, the lock file stays, and the next checkout tries again.
func (w *Worktree) Remove(ctx context.Context) error {
	err := w.repo.removeWorktree(context.WithoutCancel(ctx), w.Dir)
	if err == nil {
		err = os.Remove(w.lock.Name())
	}
	return errors.Join(err, w.lock.Close())
}

func (r *Repository) removeWorktree(ctx context.Context, dir string) error {
	if _, err := git(ctx, r.Root, "worktree", "remove", "--force", "--force", dir); err != nil {
		// If git was killed while it created the worktree, its own record of it can be locked and name no
		// folder. Neither remove nor prune deletes that.
		record := filepath.Join(r.git, "worktrees", filepath.Base(dir))
		if err := errors.Join(os.RemoveAll(dir), os.RemoveAll(record)); err != nil {
			return fmt.Errorf("cannot remove the checkout of the base: %w", err)
		}
		_, err = git(ctx, r.Root, "worktree", "prune")
		return err
	}
	return nil
}

// removeAbandoned deletes worktrees left by a pawl that was killed. A worktree whose lock is held is
// in use, possibly by a process in another container.
func (r *Repository) removeAbandoned(ctx context.Context, parent string) {
	locks, err := filepath.Glob(filepath.Join(parent, worktreePrefix+"*.lock"))
	if err != nil {
		return
	}
	for _, path := range locks {
		f, err := os.OpenFile(path, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			if r.removeWorktree(ctx, strings.TrimSuffix(path, ".lock")) == nil {
				_ = os.Remove(path)
			}
		}
		f.Close()
	}
}
