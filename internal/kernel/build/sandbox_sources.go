package build

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// maxSources is the maximum number of files in a copy of the sources.
const maxSources = 200_000

// sourceFiles lists what a build may read, relative to root: the files that git tracks or would
// track, or all files of the folder if there is no repository. It leaves out the outputs of an
// earlier build and git's own files: git's configuration may contain a token.
func sourceFiles(ctx context.Context, dir string, outputs []string) (root string, files []string, err error) {
	repo, err := Open(ctx, dir)
	if err != nil {
		others, err := folderFiles(dir)
		return dir, without(others, dir, ".", outputs), errors.Join(ctx.Err(), err)
	}
	if root, err = filepath.EvalSymlinks(repo.Root); err != nil {
		return "", nil, err
	}
	inside, err := filepath.Rel(root, dir)
	if err != nil {
		return "", nil, err
	}
	tracked, err := git(ctx, root, "ls-files", "-z", "--cached", "--recurse-submodules")
	if err != nil {
		return "", nil, err
	}
	others, err := git(ctx, root, "ls-files", "-z", "--others", "--exclude-standard")
	if err != nil {
		return "", nil, err
	}
	files = append(strings.Split(tracked, "\x00"), without(strings.Split(others, "\x00"), root, inside, outputs)...)
	files = slices.DeleteFunc(files, func(name string) bool { return name == "" || gitOwn(name) })
	if len(files) > maxSources {
		return "", nil, tooManyFiles(root)
	}
	return root, files, nil
}

func folderFiles(dir string) (files []string, err error) {
	err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == ".git":
			return fs.SkipDir
		case e.IsDir() || e.Name() == ".git":
			return nil
		case len(files) == maxSources:
			return tooManyFiles(dir)
		}
		rel, err := filepath.Rel(dir, path)
		files = append(files, rel)
		return err
	})
	return files, err
}

func tooManyFiles(dir string) error {
	return fmt.Errorf("%s has more than %d files", dir, maxSources)
}

// without removes the files that match the output globs of a build in the folder inside of root.
func without(files []string, root, inside string, outputs []string) []string {
	made := map[string]bool{}
	for _, glob := range outputs {
		found, _ := declared(os.DirFS(root), path.Join(filepath.ToSlash(inside), filepath.ToSlash(glob))) // an unreadable glob matches nothing
		for _, name := range found {
			made[name] = true
		}
	}
	return slices.DeleteFunc(files, func(name string) bool { return made[filepath.ToSlash(name)] })
}

// gitOwn reports whether a path is in a .git folder. A file written there can make git run it.
func gitOwn(path string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if strings.EqualFold(part, ".git") {
			return true
		}
	}
	return false
}

// copyEntry copies one file or link. It skips other kinds and files that no longer exist.
func copyEntry(from, to *os.Root, name string, most int64) (int64, error) {
	info, err := from.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // deleted, but still in git's index
	}
	if err != nil {
		return 0, err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := from.Readlink(name)
		if err != nil {
			return 0, err
		}
		return 0, to.Symlink(target, name)
	case info.Mode().IsRegular():
		n, err := copyFile(from, to, name, name, most)
		if err == nil {
			err = to.Chtimes(name, time.Time{}, info.ModTime()) // make depends on it
		}
		return n, err
	default:
		return 0, nil
	}
}

// copyFile copies a regular file, up to most+1 bytes, so that the caller notices a file that is
// too large.
func copyFile(from, to *os.Root, name, as string, most int64) (int64, error) {
	in, err := from.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, fmt.Errorf("%s is not a regular file", name)
	}
	mode := fs.FileMode(0o644)
	if info.Mode()&0o111 != 0 {
		mode = 0o755
	}
	out, err := to.OpenFile(as, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(out, io.LimitReader(in, most+1))
	return n, errors.Join(err, out.Close())
}
