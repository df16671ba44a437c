package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/ratchet"
)

// history compares the versions of a ledger in the tree, and the last one with the file.
func (f *file) history(ctx context.Context, v version, r *Report) error {
	repo := repository{f.dir}
	if _, err := repo.line(ctx, "rev-parse", "--git-dir"); err != nil {
		r.note("%s is not in a git repository: only the hash chain was checked, which can be recomputed after an edit", f.dir)
		return ctx.Err()
	}
	if _, err := repo.line(ctx, "rev-parse", "--verify", "--quiet", "HEAD"); err != nil {
		r.note("the repository has no commit yet: only the hash chain was checked")
		return ctx.Err()
	}
	name := filepath.ToSlash(f.name)
	if err := repo.walk(ctx, "HEAD", name, r); err != nil {
		return err
	}
	if r.Versions == 0 {
		r.note("%s is not committed: commit it so that its history can be checked (does .gitignore exclude it?)", f.path())
	}
	last, err := repo.run(ctx, nil, nil, "cat-file", "blob", "HEAD:./"+name)
	if err != nil { // HEAD has no ledger
		return ctx.Err()
	}
	before, _ := splitTorn(last)
	r.compare("", before, v.text)
	return nil
}

// history compares the versions of a ledger on a branch.
func (b *branch) history(ctx context.Context, v version, r *Report) error {
	if v.tip == "" {
		r.note("branch %s does not exist yet", b.ref)
		return nil
	}
	return b.walk(ctx, v.tip, b.file, r)
}

// change is a commit's change of a file: the blobs before and after. old is empty if the file is
// new, next if it is deleted.
type change struct{ commit, old, next string }

// walk compares every version of a file with the one before, along all parents:
// a merge can drop lines of one side.
func (r repository) walk(ctx context.Context, rev, name string, report *Report) error {
	if shallow, err := r.line(ctx, "rev-parse", "--is-shallow-repository"); err != nil {
		return err
	} else if shallow == "true" {
		report.note("this clone is shallow: versions before its oldest commit were not checked; get them with `git fetch --unshallow`")
	}
	changes, err := r.changes(ctx, rev, name)
	if err != nil {
		return fmt.Errorf("cannot read the ledger's history: %w", err)
	}
	blobs, err := r.blobs(ctx)
	if err != nil {
		return fmt.Errorf("cannot read the ledger's history: %w", err)
	}
	defer blobs.close()
	for _, c := range changes {
		report.Versions++
		if c.old == "" {
			continue
		}
		if c.next == "" {
			report.problem(c.commit, 0, "the ledger was deleted")
			continue
		}
		old, err := blobs.get(c.old)
		if err != nil {
			return err
		}
		next, err := blobs.get(c.next)
		if err != nil {
			return err
		}
		before, _ := splitTorn(old)
		report.compare(c.commit, before, next)
	}
	return nil
}

// compare adds a problem if after does not start with before.
func (r *Report) compare(commit string, before, after []byte) {
	if bytes.HasPrefix(after, before) {
		return
	}
	old, now := slices.Collect(bytes.Lines(before)), slices.Collect(bytes.Lines(after))
	for i, line := range old {
		switch {
		case i >= len(now):
			r.problem(commit, i+1, "%d lines were removed, starting at %s", len(old)-i, about(line))
			return
		case !bytes.Equal(line, now[i]) && !bytes.Equal(bytes.TrimSuffix(line, []byte("\n")), bytes.TrimSuffix(now[i], []byte("\n"))):
			r.problem(commit, i+1, "%s was changed after it was recorded", about(line))
			return
		}
	}
}

// about describes the entry of a line, as far as it is readable.
func about(line []byte) string {
	entries, _ := ratchet.Inspect(line)
	if len(entries) == 0 || entries[0].Case == "" {
		return fmt.Sprintf("%.40q", line)
	}
	return fmt.Sprintf("the entry \"%s %s\"", entries[0].Kind, entries[0].Case)
}

// changes lists the commits that changed a file, oldest first. Merges are compared with each
// parent; --parents includes those that took one side unchanged.
func (r repository) changes(ctx context.Context, rev, name string) ([]change, error) {
	out, err := r.run(ctx, nil, nil, "log", "--full-history", "--parents", "--topo-order", "--diff-merges=separate", "--root", "--raw", "--no-abbrev",
		"--no-renames", "--no-ext-diff", "--no-textconv", "--no-show-signature", "--no-color", "--format=commit %H", rev, "--", name)
	if err != nil {
		return nil, err
	}
	var list []change
	var commit string
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSuffix(line, "\n")
		if rest, ok := strings.CutPrefix(line, "commit "); ok {
			commit, _, _ = strings.Cut(rest, " ")
			continue
		}
		facts, _, ok := strings.Cut(line, "\t")
		fields := strings.Fields(facts)
		if !ok || len(fields) != 5 { // :100644 100644 OLD NEW M
			continue
		}
		list = append(list, change{commit, blobName(fields[2]), blobName(fields[3])})
	}
	if commit == "" && len(out) > 0 {
		return nil, errors.New("unknown git log output: update pawl")
	}
	slices.Reverse(list)
	return list, nil
}

// blobName returns "" for git's all-zero name.
func blobName(s string) string {
	if strings.Trim(s, "0") == "" {
		return ""
	}
	return s
}
