package build

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// SourceCopies makes copies of the sources at one moment, in which builds that would overwrite each
// other's files can run in parallel. Tracked files come from a worktree; changed and untracked
// files are copied over it.
type SourceCopies struct {
	path    string // folder of all copies, used for nothing else
	repo    *Repository
	root    string   // top of the user's sources
	inside  string   // the suite's folder, relative to root
	overlay []string // files to copy over a worktree, stored in path/over
	deleted []string // files of the commit that are deleted in the working tree
}

// SourceCopy is one copy of the sources.
type SourceCopy struct {
	Dir string // the suite's folder

	of   *SourceCopies
	root string
	tree *Worktree // nil without git
	made map[string]fileState
}

// fileState detects whether a file was changed.
type fileState struct {
	mode fs.FileMode
	size int64
	time int64
}

// NewSourceCopies records the sources that contain dir in the folder at path, which it recreates. carry
// holds globs, relative to dir, of files that belong to the sources although git ignores them.
// leave holds globs and folders of files that are not sources.
func NewSourceCopies(ctx context.Context, path, dir string, carry, leave []string) (_ *SourceCopies, err error) {
	if dir, err = filepath.Abs(dir); err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err == nil {
		err = os.RemoveAll(path)
	}
	if err == nil {
		err = os.MkdirAll(filepath.Join(path, "over"), 0o755)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot create a folder for copies of %s: %w", dir, err)
	}
	r := &SourceCopies{path: path, root: dir, inside: "."}
	if repo, err := Open(ctx, dir); err == nil && r.hasHead(ctx, repo) {
		r.repo = repo
		if err := r.changes(ctx, dir); err != nil {
			return nil, fmt.Errorf("cannot list the sources of %s: %w", dir, err)
		}
	} else if r.overlay, err = folderFiles(dir); err != nil {
		return nil, fmt.Errorf("cannot list the sources of %s: %w", dir, err)
	}
	r.overlay = without(r.overlay, r.root, r.inside, leave)
	r.overlay = slices.DeleteFunc(r.overlay, func(name string) bool { return name == "" || gitOwn(name) || r.below(name, leave) })
	for _, glob := range carry {
		found, _ := declared(os.DirFS(r.root), filepath.ToSlash(filepath.Join(r.inside, glob))) // an unreadable glob matches nothing
		r.overlay = append(r.overlay, found...)
	}
	slices.Sort(r.overlay)
	if r.overlay = slices.Compact(r.overlay); len(r.overlay) > maxSources {
		return nil, tooManyFiles(dir)
	}
	return r, copyAll(r.root, r.kept(), r.overlay)
}

// hasHead reports whether the repository has a commit to start from.
func (r *SourceCopies) hasHead(ctx context.Context, repo *Repository) bool {
	_, err := repo.Commit(ctx, "HEAD")
	return err == nil
}

// below reports whether a file is in one of the folders, which are relative to the suite's folder.
func (r *SourceCopies) below(name string, folders []string) bool {
	rel, err := filepath.Rel(r.inside, name)
	return err == nil && slices.ContainsFunc(append([]string{".pawl"}, folders...), func(folder string) bool {
		return strings.HasPrefix(rel, filepath.Clean(folder)+string(filepath.Separator))
	})
}

func (r *SourceCopies) kept() string { return filepath.Join(r.path, "over") }

// changes records how the working tree differs from its commit.
func (r *SourceCopies) changes(ctx context.Context, dir string) (err error) {
	if r.root, err = filepath.EvalSymlinks(r.repo.Root); err != nil {
		return err
	}
	if r.inside, err = filepath.Rel(r.root, dir); err != nil {
		return err
	}
	changed, err := git(ctx, r.root, "diff", "--name-only", "--no-ext-diff", "-z", "HEAD")
	if err != nil {
		return err
	}
	others, err := git(ctx, r.root, "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return err
	}
	for _, name := range slices.Concat(strings.Split(changed, "\x00"), strings.Split(others, "\x00")) {
		if name == "" {
			continue
		}
		info, err := os.Lstat(filepath.Join(r.root, name))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			r.deleted = append(r.deleted, name)
		case err != nil:
			return err
		case !info.IsDir(): // a submodule stays as in its commit
			r.overlay = append(r.overlay, name)
		}
	}
	return nil
}

// New creates a copy of the sources.
func (r *SourceCopies) New(ctx context.Context) (_ *SourceCopy, err error) {
	room := &SourceCopy{of: r}
	if r.repo != nil {
		if room.tree, err = r.repo.Checkout(ctx, "HEAD"); err != nil {
			return nil, err
		}
		room.root = room.tree.Dir
	} else if room.root, err = os.MkdirTemp(r.path, "room-"); err != nil {
		return nil, fmt.Errorf("cannot copy the sources: %w", err)
	}
	room.Dir = filepath.Join(room.root, r.inside)
	for _, name := range r.deleted {
		if failed := os.Remove(filepath.Join(room.root, name)); failed != nil && !errors.Is(failed, fs.ErrNotExist) {
			err = failed
		}
	}
	if err == nil {
		err = copyAll(r.kept(), room.root, r.overlay)
	}
	if err == nil {
		err = os.MkdirAll(room.Dir, 0o755) // git does not store empty folders
	}
	if err == nil {
		room.made, err = room.states()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("cannot copy the sources: %w", err), room.Remove(ctx))
	}
	return room, nil
}

// Clean restores a room to its original state, so that objects of one build do not get into the next.
func (r *SourceCopy) Clean(ctx context.Context) error {
	now, err := r.states()
	if err != nil {
		return fmt.Errorf("clean %s: %w", r.root, err)
	}
	over := map[string]bool{}
	for _, name := range r.of.overlay {
		over[name] = true
	}
	var tracked, laid []string
	for _, name := range slices.Sorted(maps.Keys(r.made)) {
		switch state, there := now[name]; {
		case there && state == r.made[name]:
		case over[name]:
			laid = append(laid, name)
		default:
			tracked = append(tracked, name)
		}
	}
	for name := range now {
		if _, ours := r.made[name]; !ours {
			if err := os.Remove(filepath.Join(r.root, name)); err != nil {
				return fmt.Errorf("clean %s: %w", r.root, err)
			}
		}
	}
	if len(tracked) > 0 {
		if _, err := git(ctx, r.root, append([]string{"checkout", "-q", "HEAD", "--"}, tracked...)...); err != nil {
			return fmt.Errorf("clean %s: %w", r.root, err)
		}
	}
	if err := copyAll(r.of.kept(), r.root, laid); err != nil {
		return fmt.Errorf("clean %s: %w", r.root, err)
	}
	if len(tracked)+len(laid) > 0 {
		if r.made, err = r.states(); err != nil {
			return fmt.Errorf("clean %s: %w", r.root, err)
		}
	}
	return nil
}

// Remove deletes a room.
func (r *SourceCopy) Remove(ctx context.Context) error {
	if r.tree != nil {
		return r.tree.Remove(ctx)
	}
	return os.RemoveAll(r.root)
}

// Remove deletes the recorded sources.
func (r *SourceCopies) Remove() error { return os.RemoveAll(r.path) }

// states returns the state of every file of a room.
func (r *SourceCopy) states() (map[string]fileState, error) {
	list := map[string]fileState{}
	err := filepath.WalkDir(r.root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.Name() == ".git" && e.IsDir():
			return fs.SkipDir
		case e.IsDir() || e.Name() == ".git":
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(r.root, path)
		list[name] = fileState{info.Mode(), info.Size(), info.ModTime().UnixNano()}
		return err
	})
	return list, err
}

// copyAll copies files and links with their folders, and replaces existing ones.
func copyAll(from, to string, names []string) error {
	source, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer target.Close()
	for _, name := range names {
		if err := target.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := target.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if _, err := copyEntry(source, target, name, 1<<62); err != nil {
			return err
		}
	}
	return nil
}
