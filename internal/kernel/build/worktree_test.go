package build

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/await"
)

// inRepository is a repository with one commit that holds the file "k.c".
func inRepository(t *testing.T) *Repository {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "k.c"), []byte("int k;\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "."}, {"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", "first"}} {
		if _, err := git(t.Context(), dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func checkedOut(t *testing.T, r *Repository) *Worktree {
	t.Helper()
	w, err := r.Checkout(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(w.Dir, "k.c")); err != nil {
		t.Fatal(err)
	}
	return w
}

// places are the worktrees that git knows, without the user's own.
func places(t *testing.T, r *Repository) []string {
	t.Helper()
	out, err := git(t.Context(), r.Root, "worktree", "list", "--porcelain")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range strings.Lines(out) {
		if dir, ok := strings.CutPrefix(strings.TrimSpace(line), "worktree "); ok && strings.Contains(dir, worktreePrefix) {
			list = append(list, filepath.Base(dir))
		}
	}
	return list
}

// Two pawls that measure one commit do not take the checkout from each other.
func TestCheckoutsOfOneCommit(t *testing.T) {
	r := inRepository(t)
	first, second := checkedOut(t, r), checkedOut(t, r)
	if first.Dir == second.Dir || len(places(t, r)) != 2 {
		t.Errorf("%s and %s, of %v", first.Dir, second.Dir, places(t, r))
	}
	for _, w := range []*Worktree{first, second} {
		if err := w.Remove(t.Context()); err != nil {
			t.Error(err)
		}
	}
	left, err := os.ReadDir(filepath.Join(r.git, "pawl"))
	if err != nil || len(left) > 0 || len(places(t, r)) > 0 {
		t.Errorf("left behind: %v, %v, %v", left, places(t, r), err)
	}
}

// A build that contains the name of its folder is reused only in a folder of the same name.
func TestCheckout_SameFolderAgain(t *testing.T) {
	r := inRepository(t)
	first := checkedOut(t, r)
	if err := first.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again := checkedOut(t, r); again.Dir != first.Dir {
		t.Errorf("%s, and then %s", first.Dir, again.Dir)
	}
}

// Processes that check out one commit at the same time neither fail nor share a folder.
func TestCheckout_ManyAtOnce(t *testing.T) {
	r := inRepository(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 3 {
				lock, err := lockNew(filepath.Join(r.git, "base-x"))
				if err != nil {
					t.Error(err)
					return
				}
				dir := strings.TrimSuffix(lock.Name(), ".lock")
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Errorf("two use one folder: %v", err)
				}
				if err := errors.Join(os.Remove(dir), os.Remove(lock.Name()), lock.Close()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// One that was killed cannot clean up: the next does, and only what nobody uses.
func TestAbandonedCheckoutIsRemoved(t *testing.T) {
	r := inRepository(t)
	used, abandoned := checkedOut(t, r), checkedOut(t, r)
	if err := abandoned.lock.Close(); err != nil { // as the kernel does when a process dies
		t.Fatal(err)
	}
	next := checkedOut(t, r)
	if _, err := os.Stat(abandoned.Dir); !os.IsNotExist(err) {
		t.Errorf("the abandoned checkout is still there: %v", err)
	}
	for _, w := range []*Worktree{used, next} {
		if _, err := os.Stat(filepath.Join(w.Dir, "k.c")); err != nil {
			t.Errorf("a checkout in use was removed: %v", err)
		}
	}
}

// git that was killed while it made a worktree leaves a locked record that names no folder.
func TestCheckout_RemovesHalfMadeWorktree(t *testing.T) {
	r := inRepository(t)
	record, lock := filepath.Join(r.git, "worktrees/base-x"), filepath.Join(r.git, "pawl/base-x.lock")
	for _, file := range []string{filepath.Join(record, "locked"), lock} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("initializing"), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	checkedOut(t, r)
	for _, path := range []string{record, lock} {
		if _, err := os.Stat(path); !os.IsNotExist(err) {
			t.Errorf("%s is still there: %v", path, err)
		}
	}
}

// A checkout that is canceled while git makes it leaves nothing that stops the next one of the same commit.
func TestCheckout_CanceledInTheMiddle(t *testing.T) {
	r := inRepository(t)
	program, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	made := filepath.Join(bin, "made")
	script := fmt.Sprintf("#!/bin/sh\ncase \"$*\" in *\"worktree add\"*) %s \"$@\" && touch %s && exec sleep 600;; esac\nexec %[1]s \"$@\"\n", program, made)
	if err := os.WriteFile(filepath.Join(bin, "git"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	path := os.Getenv("PATH")
	t.Setenv("PATH", bin+":"+path)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		_, err := r.Checkout(ctx, "main")
		ended <- err
	}()
	await.True(t, "git to make a worktree", func() bool { _, err := os.Stat(made); return err == nil })
	cancel()
	if err := await.Receive(t, "the checkout to end", ended); err == nil {
		t.Error("a checkout that was canceled is a checkout")
	}
	t.Setenv("PATH", path)
	if left := places(t, r); len(left) != 0 {
		t.Errorf("left are %q", left)
	}
	checkedOut(t, r)
}

// A submodule that is cloned here is checked out without its remote, and a commit cannot name another address for it.
func TestCheckout_TakesSubmodulesFromHere(t *testing.T) {
	library, r := inRepository(t), inRepository(t)
	commit := []string{"-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-a", "-m", "a submodule"}
	for _, args := range [][]string{{"-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "file://" + library.Root, "lib"}, commit} {
		if _, err := git(t.Context(), r.Root, args...); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Rename(library.Root, library.Root+".gone"); err != nil {
		t.Fatal(err)
	}
	w := checkedOut(t, r)
	if _, err := os.Stat(filepath.Join(w.Dir, "lib", "k.c")); err != nil {
		t.Error(err)
	}
}
