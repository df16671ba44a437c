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

// maxSources bounds the files of a copy.
const maxSources = 200_000

// sourceFiles lists what a build may read, relative to root: what git tracks or
// would track, or all of the folder where there is no git; not what an earlier build
// made there. What git keeps for itself is no source: its configuration may hold a token.
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

// without leaves out what the globs of a build in a folder of root match.
func without(files []string, root, inside string, outputs []string) []string {
	made := map[string]bool{}
	for _, glob := range outputs {
		found, _ := declared(os.DirFS(root), path.Join(filepath.ToSlash(inside), filepath.ToSlash(glob))) // what cannot be listed is not there
		for _, name := range found {
			made[name] = true
		}
	}
	return slices.DeleteFunc(files, func(name string) bool { return made[filepath.ToSlash(name)] })
}

// gitOwn tells whether a path leads into what git keeps for itself: a file that
// comes to lie there can make git run it.
func gitOwn(path string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(path), "/") {
		if strings.EqualFold(part, ".git") {
			return true
		}
	}
	return false
}

// copyEntry copies one file or link. What is neither, or is gone again, is left out.
func copyEntry(from, to *os.Root, name string, most int64) (int64, error) {
	info, err := from.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil // deleted, and git not told yet
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
			err = to.Chtimes(name, time.Time{}, info.ModTime()) // make goes by it
		}
		return n, err
	default:
		return 0, nil
	}
}

// copyFile copies at most so many bytes of a regular file, and one more when there
// are more.
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
