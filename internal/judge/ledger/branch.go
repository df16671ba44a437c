package ledger

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"path"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/scratch"
	"github.com/goatnote-inc/pawl/ratchet"
)

// branchFile is the name of a ledger on a dedicated branch.
const branchFile = "baselines.jsonl"

// branch is a ledger on a git branch: a dedicated one, so that a protected main line needs no
// automated commits, or the main line itself. A version is a commit. New commits are built from git
// objects, without a working tree. The branch moves by compare-and-swap: update-ref in this
// repository, and a push without force on a remote.
type branch struct {
	repository
	ref    string
	file   string // path of the ledger on the branch
	remote string
	// fetched is the ref that this clone last fetched of the remote's branch, if only that may be
	// read; empty to ask the remote.
	fetched string
	// seen is the ref of the last tip of the remote's branch that was read here. No other git
	// command moves it, so a rewritten branch is noticed.
	seen string
}

func openBranch(ctx context.Context, w Location) (*branch, error) {
	b := &branch{
		repository: repository{cmp.Or(w.Dir, ".")}, ref: "refs/heads/" + w.Branch, remote: w.Remote,
	}
	if err := b.setPath(ctx, w.File); err != nil {
		return nil, fmt.Errorf("ledger on branch %s: %w", w.Branch, err)
	}
	if _, err := b.line(ctx, "check-ref-format", b.ref); err != nil {
		return nil, fmt.Errorf("ledger on branch %q: not a valid branch name", w.Branch)
	}
	if b.remote != "" {
		b.seen = "refs/pawl/" + b.remote + "/" + w.Branch
		if _, err := b.line(ctx, "check-ref-format", b.seen); err != nil || strings.HasPrefix(b.remote, "-") {
			return nil, fmt.Errorf("ledger on branch %s of %q: not a valid remote; use a name that `git remote` lists, such as origin", w.Branch, w.Remote)
		}
	}
	if w.Fetched {
		b.fetched = b.ref
		if b.remote != "" {
			b.fetched = "refs/remotes/" + b.remote + "/" + w.Branch
		}
	}
	return b, nil
}

// setPath sets the path of the ledger on the branch. A file has the same path as in the working tree.
func (b *branch) setPath(ctx context.Context, file string) error {
	b.file = branchFile
	if file != "" {
		prefix, err := b.line(ctx, "rev-parse", "--show-prefix")
		if err != nil {
			return fmt.Errorf("%s is not in a git repository: %w", b.dir, err)
		}
		if b.file = path.Join(prefix, filepath.ToSlash(file)); !filepath.IsLocal(b.file) {
			return fmt.Errorf("%s is not inside %s", file, b.dir)
		}
	}
	if err := b.cdToRoot(ctx); err != nil {
		return fmt.Errorf("%s is not in a git repository: %w", b.dir, err)
	}
	return nil
}

// cdToRoot changes dir to the root of git's paths: the top of the working tree, or the repository
// itself if it is bare. Below it, git would look for the ledger in a subfolder.
func (b *branch) cdToRoot(ctx context.Context) error {
	top, err := b.line(ctx, "rev-parse", "--show-toplevel")
	if err != nil {
		top, err = b.line(ctx, "rev-parse", "--absolute-git-dir")
	}
	if err == nil {
		b.dir = top
	}
	return err
}

func (b *branch) load(ctx context.Context) (version, error) {
	tip, err := b.tip(ctx)
	if err != nil || tip == "" {
		return version{}, err
	}
	v := version{tip: tip}
	blob, err := b.blob(ctx, tip)
	if err != nil {
		return version{}, fmt.Errorf("cannot read the ledger on %s: %w", b.ref, err)
	}
	if blob == "" {
		return v, b.checkNotDeleted(ctx, tip)
	}
	data, err := b.run(ctx, nil, nil, "cat-file", "blob", blob)
	if err != nil {
		return version{}, fmt.Errorf("cannot read the ledger on %s: %w", b.ref, err)
	}
	v.text, v.torn = splitTorn(data)
	return v, nil
}

// checkNotDeleted returns an error if the branch once had a ledger: a deleted ledger
// must not be restarted as a new one.
func (b *branch) checkNotDeleted(ctx context.Context, tip string) error {
	commit, err := b.line(ctx, "log", "-1", "--full-history", "--format=%H", tip, "--", b.file)
	if err == nil && commit != "" {
		err = fmt.Errorf("%w: commit %.12s deletes %s on %s", ErrChanged, commit, b.file, b.ref)
	}
	return err
}

// tip returns the commit of the branch; empty if there is no branch yet.
func (b *branch) tip(ctx context.Context) (string, error) {
	if b.fetched != "" {
		return b.resolve(ctx, b.fetched)
	}
	if b.remote != "" {
		return b.remoteTip(ctx)
	}
	return b.resolve(ctx, b.ref)
}

// resolve returns the commit of a ref in this repository; empty if there is none.
func (b *branch) resolve(ctx context.Context, ref string) (string, error) {
	commit, err := b.line(ctx, "rev-parse", "--verify", "--quiet", ref+"^{commit}")
	if exitCode(err) == 1 {
		return "", nil
	}
	return commit, err
}

// blob returns the name of the ledger's blob in a commit; empty if it has none.
func (b *branch) blob(ctx context.Context, commit string) (string, error) {
	entry, err := b.line(ctx, "ls-tree", "--full-tree", commit, "--", b.file)
	if err != nil || entry == "" {
		return "", err
	}
	facts, _, _ := strings.Cut(entry, "\t")
	if fields := strings.Fields(facts); len(fields) == 3 && fields[1] == "blob" {
		return fields[2], nil
	}
	return "", fmt.Errorf("%w: %s is not a file", ErrChanged, b.file)
}

func (b *branch) extend(ctx context.Context, old version, lines []byte, entries []ratchet.Entry) error {
	if b.fetched != "" {
		return fmt.Errorf("%s is read-only here: it is the copy that was last fetched", b.ref)
	}
	text := append(bytes.Clone(old.text), lines...)
	commit, err := b.commit(ctx, old, text, entries)
	if err != nil {
		return fmt.Errorf("on %s: %w", b.ref, err)
	}
	if b.remote != "" {
		return b.push(ctx, old.tip, commit)
	}
	return b.swap(ctx, b.ref, commit, old.tip)
}

// swap moves a ref of this repository from old to next.
func (b *branch) swap(ctx context.Context, ref, next, old string) error {
	_, err := b.line(ctx, "update-ref", "-m", "pawl: extend the ledger", ref, next, orNone(old, next))
	if err == nil {
		return nil
	}
	if contended(err) {
		return fmt.Errorf("%w (%w)", errConflict, err)
	}
	return fmt.Errorf("%w (%w)", errRefused, err)
}

// orNone returns git's spelling of "there must be no commit yet" for an empty commit: zeros, as
// many as a hash of this repository has digits.
func orNone(commit, like string) string {
	return cmp.Or(commit, strings.Repeat("0", len(like)))
}

// contended reports whether git failed because another process held a ref's lock.
func contended(err error) bool {
	return strings.Contains(err.Error(), "cannot lock ref") || strings.Contains(err.Error(), "failed to update ref")
}

// commit creates a commit on top of a version that changes only the ledger.
func (b *branch) commit(ctx context.Context, old version, text []byte, entries []ratchet.Entry) (string, error) {
	tree, err := b.tree(ctx, old.tip, text)
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree"}
	if old.tip != "" {
		args = append(args, "-p", old.tip)
	}
	date := entries[len(entries)-1].Time.Format("2006-01-02T15:04:05Z07:00")
	out, err := b.run(ctx, []byte(message(entries)), []string{
		"GIT_AUTHOR_NAME=pawl", "GIT_AUTHOR_EMAIL=pawl@localhost", "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=pawl", "GIT_COMMITTER_EMAIL=pawl@localhost", "GIT_COMMITTER_DATE=" + date,
	}, append(args, tree)...)
	return string(bytes.TrimSpace(out)), err
}

// tree creates the tree of tip with a new ledger, using a separate index.
func (b *branch) tree(ctx context.Context, tip string, text []byte) (string, error) {
	blob, err := b.run(ctx, text, nil, "hash-object", "-w", "--stdin")
	if err != nil {
		return "", err
	}
	folder, err := scratch.New("", "index")
	if err != nil {
		return "", fmt.Errorf("cannot create a temporary index: %w", err)
	}
	defer folder.Remove()
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(folder.Path, "index")}
	if tip != "" {
		if _, err := b.run(ctx, nil, index, "read-tree", tip); err != nil {
			return "", err
		}
	}
	line := fmt.Appendf(nil, "100644 %s\t%s\x00", bytes.TrimSpace(blob), b.file)
	if _, err := b.run(ctx, line, index, "update-index", "-z", "--add", "--index-info"); err != nil {
		return "", err
	}
	tree, err := b.run(ctx, nil, index, "write-tree")
	return string(bytes.TrimSpace(tree)), err
}

// message returns the commit message for entries. It keeps automated commits from starting CI builds.
func message(entries []ratchet.Entry) string {
	const most = 50
	var text strings.Builder
	subject := "perf: Record baselines [skip ci]"
	for i, e := range entries {
		if e.Kind == ratchet.KindMoved {
			subject = "perf: Ratchet baseline forward [skip ci]"
		}
		if i < most {
			fmt.Fprintf(&text, "%s %s", e.Kind, e.Case)
			if e.Commit != "" {
				fmt.Fprintf(&text, " at %.12s", e.Commit)
			}
			if e.Reason != "" {
				fmt.Fprintf(&text, ": %s", e.Reason)
			}
			text.WriteByte('\n')
		}
	}
	if len(entries) > most {
		fmt.Fprintf(&text, "and %d more\n", len(entries)-most)
	}
	return subject + "\n\n" + text.String()
}
