package build

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/kernel/affected"
)

// Changed returns the files in which the working tree differs from a commit, as paths from the
// top of the repository. It includes both names of a moved file, and untracked files.
func (r *Repository) Changed(ctx context.Context, commit string) ([]string, error) {
	// Each name follows a status, so the spaces that git() trims are never part of a name.
	out, err := git(ctx, r.Root, "diff", "--name-status", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none", commit, "--")
	if err != nil {
		return nil, err
	}
	fields := strings.Split(strings.TrimSuffix(out, "\x00"), "\x00")
	if len(fields)%2 != 0 && out != "" {
		return nil, fmt.Errorf("cannot parse the git diff with %.12s: expected an even number of fields, got %d", commit, len(fields))
	}
	var files []string
	for i := 1; i < len(fields); i += 2 {
		files = append(files, fields[i])
	}
	if out, err = git(ctx, r.Root, "ls-files", "-z", "-t", "--others", "--exclude-standard"); err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(out, "\x00") {
		if name, ok := strings.CutPrefix(name, "? "); ok {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// Snapshot returns a digest of the files in which the working tree differs from its commit, without those for which
// ignored returns true.
func (r *Repository) Snapshot(ctx context.Context, ignored func(file string) bool) (string, error) {
	files, err := r.Changed(ctx, "HEAD")
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(r.Root)
	if err != nil {
		return "", fmt.Errorf("cannot hash the working tree: %w", err)
	}
	defer root.Close()
	sum := sha256.New()
	for _, file := range slices.DeleteFunc(files, ignored) {
		state, err := describeFile(root, file)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(sum, "%d:%s %s\n", len(file), file, state)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// describeFile returns what a file is: its mode and the digest of its content, or where a link leads.
func describeFile(root *os.Root, file string) (string, error) {
	info, err := root.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "deleted", nil
	}
	if err != nil {
		return "", fmt.Errorf("cannot hash %s: %w", file, err)
	}
	content := ""
	switch mode := info.Mode(); {
	case mode.IsRegular():
		content, err = fileDigest(root, file)
	case mode&fs.ModeSymlink != 0:
		content, err = root.Readlink(file)
	}
	if err != nil {
		return "", fmt.Errorf("cannot hash %s: %w", file, err)
	}
	return info.Mode().String() + " " + content, nil
}

// Mentions returns the lines in the working tree that contain one of the names. It searches the text
// files that git does not ignore.
func (r *Repository) Mentions(ctx context.Context, names []string) ([]affected.Mention, error) {
	var list []affected.Mention
	for some := range slices.Chunk(names, 1000) { // command lines have a maximum length
		args := []string{"grep", "-z", "-I", "-F", "--untracked", "--no-color", "--full-name"}
		for _, name := range some {
			args = append(args, "-e", name)
		}
		out, err := git(ctx, r.Root, args...)
		if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 1 {
			continue // no match
		}
		if err != nil {
			return nil, err
		}
		for text := range strings.SplitSeq(out, "\n") {
			file, line, _ := strings.Cut(text, "\x00")
			list = append(list, affected.Mention{File: file, Line: line})
		}
	}
	return list, nil
}
