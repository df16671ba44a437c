package build

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// Modes of files in a git tree.
const (
	ModeFile       = "100644"
	ModeExecutable = "100755"
	ModeLink       = "120000"
	ModeSubmodule  = "160000"
)

// FileChange is a file that a commit adds, replaces or deletes.
type FileChange struct {
	Path    string // from the top of the repository, with slashes
	Mode    string // ModeFile or ModeExecutable; empty deletes the file
	Content []byte
}

// TreeEntry is a file in a git tree.
type TreeEntry struct {
	Path   string
	Mode   string // empty if the file is deleted
	Object string
	Size   int64
}

// Commit author of pawl's own commits: the time and the author do not depend on the machine.
var ownCommitEnv = []string{
	"GIT_AUTHOR_NAME=pawl", "GIT_AUTHOR_EMAIL=pawl@localhost", "GIT_AUTHOR_DATE=@0 +0000",
	"GIT_COMMITTER_NAME=pawl", "GIT_COMMITTER_EMAIL=pawl@localhost", "GIT_COMMITTER_DATE=@0 +0000",
}

// CommitChanges creates a commit on top of base and keeps it by a ref below refs. Neither the working tree nor its
// index change, and no filter runs. A file at a path below a link replaces the link. The same changes make the
// same commit.
func (r *Repository) CommitChanges(ctx context.Context, base, refs, message string, changes []FileChange) (commit string, err error) {
	if base, err = r.Commit(ctx, base); err != nil {
		return "", err
	}
	dir := filepath.Join(r.git, "pawl")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("cannot create a commit: %w", err)
	}
	temp, err := os.MkdirTemp(dir, "index-")
	if err != nil {
		return "", fmt.Errorf("cannot create a commit: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	env := append([]string{"GIT_INDEX_FILE=" + filepath.Join(temp, "index")}, ownCommitEnv...)
	run := func(input []byte, args ...string) (string, error) {
		out, err := gitInput(ctx, r.Root, env, input, args...)
		return strings.TrimSpace(string(out)), err
	}
	if _, err := run(nil, "read-tree", base+"^{tree}"); err != nil {
		return "", err
	}
	var index bytes.Buffer
	for _, c := range changes {
		mode, object := "0", strings.Repeat("0", len(base))
		if c.Mode != "" {
			mode = c.Mode
			if object, err = run(append([]byte{}, c.Content...), "hash-object", "-w", "--stdin"); err != nil {
				return "", err
			}
		}
		fmt.Fprintf(&index, "%s %s\t%s\x00", mode, object, c.Path)
	}
	if _, err := run(index.Bytes(), "update-index", "-z", "--index-info"); err != nil {
		return "", err
	}
	tree, err := run(nil, "write-tree")
	if err != nil {
		return "", err
	}
	if commit, err = run([]byte{}, "commit-tree", tree, "-p", base, "-m", message); err != nil {
		return "", err
	}
	_, err = run(nil, "update-ref", refs+"/"+commit, commit)
	return commit, err
}

// TreeChanges returns the files in which a commit differs from base.
func (r *Repository) TreeChanges(ctx context.Context, base, commit string) ([]TreeEntry, error) {
	out, err := gitInput(ctx, r.Root, nil, nil, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--full-index", base, commit)
	if err != nil {
		return nil, err
	}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	var list []TreeEntry
	for i := 0; i+1 < len(fields); i += 2 { // ":100644 100755 OLD NEW M", then the path
		f := strings.Fields(fields[i])
		if len(f) != 5 {
			return nil, fmt.Errorf("cannot parse the git diff of %.12s", commit)
		}
		e := TreeEntry{Path: fields[i+1], Mode: f[1], Object: f[3]}
		switch f[4] {
		case "D":
			e.Mode = ""
		default:
			if e.Mode != ModeSubmodule {
				if e.Size, err = r.objectSize(ctx, e.Object); err != nil {
					return nil, err
				}
			}
		}
		list = append(list, e)
	}
	return list, nil
}

func (r *Repository) objectSize(ctx context.Context, object string) (int64, error) {
	text, err := git(ctx, r.Root, "cat-file", "-s", object)
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(text, 10, 64)
}

// File returns a file of a commit; ok is false if the commit has none at that path.
func (r *Repository) File(ctx context.Context, commit, path string) (e TreeEntry, ok bool, err error) {
	out, err := gitInput(ctx, r.Root, nil, nil, "--literal-pathspecs", "ls-tree", "-z", "--full-tree", "-l", commit, "--", path)
	if err != nil || len(out) == 0 {
		return e, false, err
	}
	head, name, _ := strings.Cut(strings.TrimSuffix(string(out), "\x00"), "\t")
	f := strings.Fields(head) // "100644 blob OBJECT SIZE"
	if len(f) != 4 || name != path || f[1] != "blob" {
		return e, false, nil
	}
	size, err := strconv.ParseInt(f[3], 10, 64)
	return TreeEntry{Path: path, Mode: f[0], Object: f[2], Size: size}, err == nil, err
}

// Content returns the content of an object.
func (r *Repository) Content(ctx context.Context, object string) ([]byte, error) {
	return gitInput(ctx, r.Root, nil, nil, "cat-file", "blob", object)
}

// Diff returns the differences between two commits as text.
func (r *Repository) Diff(ctx context.Context, from, to string) ([]byte, error) {
	return gitInput(ctx, r.Root, nil, nil, "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", from, to, "--")
}
