package submit

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
	"unicode"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/internal/kernel/build"
)

// Limits of a submission.
const (
	maxFiles     = 200
	maxFileBytes = 1 << 20
	maxBytes     = 8 << 20
	maxPath      = 300
)

// refusal is why a submission is refused before anything of it is built. Its reason is in pawl's own words; detail
// has those of others: names of files, messages of git.
type refusal struct{ reason, detail string }

func (r *refusal) Error() string { return strings.TrimSuffix(r.reason+": "+r.detail, ": ") }

func refuse(format string, args ...any) error { return &refusal{reason: fmt.Sprintf(format, args...)} }

// refuseName refuses a submission because of a file or what its author wrote.
func refuseName(name, format string, args ...any) error {
	return &refusal{fmt.Sprintf(format, args...), name}
}

// Submission is a candidate: the grant's base with other files. Exactly one of Commit, Diff, Files and Over
// is set; if none is, it is the working tree.
type Submission struct {
	Commit string   // a commit of the repository
	Diff   []byte   // a unified diff, with paths from the top of the repository or from the suite's folder
	Files  []string // files of the working tree
	Over   string   // a folder whose files replace those in the suite's folder

	Stage  Stage
	Budget float64 // seconds, without waiting; 0 for DefaultBudget
	Note   string
}

// changes returns the files of a submission.
func (g *Grant) changes(ctx context.Context, s Submission) (list []build.FileChange, err error) {
	switch {
	case s.Commit != "":
		list, err = g.commitChanges(ctx, s.Commit)
	case s.Diff != nil:
		list, err = g.diffChanges(ctx, s.Diff)
	case s.Over != "":
		list, err = g.folderChanges(s.Over)
	case len(s.Files) > 0:
		list, err = g.fileChanges(ctx, s.Files)
	default:
		list, err = g.treeChanges(ctx)
	}
	if err != nil {
		return nil, err
	}
	slices.SortFunc(list, func(a, b build.FileChange) int { return strings.Compare(a.Path, b.Path) })
	return list, checkChanges(list)
}

// checkChanges refuses paths and sizes that no kernel needs.
func checkChanges(list []build.FileChange) error {
	if len(list) > maxFiles {
		return refuse("it changes %d files; the limit is %d", len(list), maxFiles)
	}
	total := 0
	for i, c := range list {
		if err := checkPath(c.Path); err != nil {
			return err
		}
		if i > 0 && list[i-1].Path == c.Path {
			return refuseName(c.Path, "a file occurs twice")
		}
		if total += len(c.Content); len(c.Content) > maxFileBytes || total > maxBytes {
			return refuseName(c.Path, "too large: a file may have %d bytes, and all files together %d", maxFileBytes, maxBytes)
		}
	}
	return nil
}

// checkPath refuses a path that is not plainly inside the repository, or that configures git or pawl.
func checkPath(name string) error {
	switch {
	case name == "" || len(name) > maxPath || !utf8.ValidString(name):
		return refuseName(name, "not a path of a source file")
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == '\\' }):
		return refuseName(name, "not a path of a source file")
	case path.IsAbs(name) || path.Clean(name) != name || !filepath.IsLocal(name):
		return refuseName(name, "a path does not stay inside the repository")
	}
	for part := range strings.SplitSeq(name, "/") {
		if lower := strings.ToLower(part); strings.HasPrefix(lower, ".git") || strings.HasPrefix(lower, "git~") || lower == ".pawl" {
			return refuseName(name, "a file belongs to git or to pawl, not to a kernel")
		}
	}
	return nil
}

// commitChanges returns the files in which a commit differs from the base.
func (g *Grant) commitChanges(ctx context.Context, ref string) ([]build.FileChange, error) {
	commit, err := g.repo.Commit(ctx, ref)
	if err != nil {
		return nil, refuseName(err.Error(), "no such commit")
	}
	entries, err := g.repo.TreeChanges(ctx, g.Base, commit)
	if err != nil {
		return nil, err
	}
	if len(entries) > maxFiles {
		return nil, refuse("it differs from the base in %d files; the limit is %d", len(entries), maxFiles)
	}
	var list []build.FileChange
	for _, e := range entries {
		c := build.FileChange{Path: e.Path, Mode: e.Mode}
		if e.Mode != "" {
			if err := checkMode(e.Path, e.Mode); err != nil {
				return nil, err
			}
			if e.Size > maxFileBytes {
				return nil, refuseName(e.Path, "a file has %d bytes; the limit is %d", e.Size, maxFileBytes)
			}
			if c.Content, err = g.repo.Content(ctx, e.Object); err != nil {
				return nil, err
			}
		}
		list = append(list, c)
	}
	return list, nil
}

// checkMode refuses everything but regular files.
func checkMode(name, mode string) error {
	switch mode {
	case build.ModeFile, build.ModeExecutable:
		return nil
	case build.ModeLink:
		return refuseName(name, "a file is a link: submit regular files")
	case build.ModeSubmodule:
		return refuseName(name, "a file is a submodule: submit regular files")
	default:
		return refuseName(name, "a file has the mode of no regular file: submit regular files")
	}
}

// treeChanges returns the files in which the working tree differs from the base.
func (g *Grant) treeChanges(ctx context.Context) ([]build.FileChange, error) {
	names, err := g.repo.Changed(ctx, g.Base)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { // pawl's own output
		inside, err := filepath.Rel(g.inside, name)
		return err == nil && (strings.HasPrefix(inside, ".pawl/") || strings.HasPrefix(inside, "results/"))
	})
	return g.readFiles(g.repo.Root, "", names)
}

// fileChanges returns files of the working tree.
func (g *Grant) fileChanges(ctx context.Context, files []string) ([]build.FileChange, error) {
	var names []string
	for _, f := range files {
		abs, err := filepath.Abs(f)
		if err != nil {
			return nil, err
		}
		dir, err := g.repo.Inside(filepath.Dir(abs))
		if err != nil {
			return nil, refuseName(err.Error(), "a file is not in the repository: use a folder of files or a diff for files from elsewhere")
		}
		names = append(names, path.Join(dir, filepath.Base(abs)))
	}
	slices.Sort(names)
	list, err := g.readFiles(g.repo.Root, "", slices.Compact(names))
	for _, c := range list {
		if _, known, _ := g.repo.File(ctx, g.Base, c.Path); c.Mode == "" && !known {
			return nil, refuseName(c.Path, "a file does not exist")
		}
	}
	return list, err
}

// folderChanges returns the files of a folder, with paths as if it were the suite's folder.
func (g *Grant) folderChanges(dir string) ([]build.FileChange, error) {
	var names []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			return nil
		case len(names) == maxFiles:
			return refuseName(dir, "the folder has more than %d files", maxFiles)
		}
		rel, err := filepath.Rel(dir, name)
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, refuseName(dir, "the folder has no files")
	}
	return g.readFiles(dir, g.inside, names)
}

// readFiles reads regular files below root without following links. A file that does not exist is deleted. Paths
// in the result start with prefix.
func (g *Grant) readFiles(root, prefix string, names []string) ([]build.FileChange, error) {
	if len(names) > maxFiles {
		return nil, refuse("it changes %d files; the limit is %d", len(names), maxFiles)
	}
	in, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var list []build.FileChange
	for _, name := range names {
		c := build.FileChange{Path: path.Join(prefix, name)}
		if err := checkPath(c.Path); err != nil {
			return nil, err
		}
		switch c.Mode, c.Content, err = readPlain(in, name); {
		case errors.Is(err, fs.ErrNotExist) && prefix == "":
			c.Mode = ""
		case err != nil:
			return nil, err
		}
		list = append(list, c)
	}
	return list, nil
}

// readPlain reads a file if it and all folders above it are what they seem: no links, no FIFO, no device.
func readPlain(in *os.Root, name string) (mode string, content []byte, err error) {
	name = filepath.FromSlash(name)
	for dir := filepath.Dir(name); dir != "."; dir = filepath.Dir(dir) {
		if info, err := in.Lstat(dir); err != nil {
			return "", nil, err
		} else if !info.IsDir() {
			return "", nil, refuseName(dir, "not a folder")
		}
	}
	info, err := in.Lstat(name)
	switch {
	case err != nil:
		return "", nil, err
	case !info.Mode().IsRegular():
		return "", nil, refuseName(name, "not a regular file: links, FIFOs and devices are refused")
	case info.Size() > maxFileBytes:
		return "", nil, refuseName(name, "a file has %d bytes; the limit is %d", info.Size(), maxFileBytes)
	}
	f, err := in.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return "", nil, err
	}
	defer f.Close()
	if now, err := f.Stat(); err != nil || !os.SameFile(info, now) {
		return "", nil, errors.Join(refuseName(name, "a file changed while it was read"), err)
	}
	mode = build.ModeFile
	if info.Mode()&0o100 != 0 {
		mode = build.ModeExecutable
	}
	content, err = io.ReadAll(io.LimitReader(f, maxFileBytes+1)) // checkChanges refuses one that grew
	return mode, content, err
}
