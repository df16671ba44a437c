package ledger

import (
	"context"
	"fmt"
	"strings"
)

// remoteTip returns the tip of the remote's branch and fetches it.
func (b *branch) remoteTip(ctx context.Context) (string, error) {
	seen, err := b.resolve(ctx, b.seen)
	if err != nil {
		return "", err
	}
	out, err := b.line(ctx, "ls-remote", "--exit-code", b.remote, b.ref)
	if exitCode(err) == 2 { // git's exit code for: no such branch
		if seen != "" {
			return "", fmt.Errorf("%w: branch %s was deleted from %s; restore it with `git push %s %s:%s`, or, if this was intended, run `git update-ref -d %s`",
				ErrChanged, b.ref, b.remote, b.remote, seen, b.ref, b.seen)
		}
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("cannot query %s for the ledger: %w", b.remote, err)
	}
	tip, _, _ := strings.Cut(out, "\t")
	if tip == seen {
		return tip, nil
	}
	// Fetch the name, not the commit: not every server allows fetching commits. The branch may have
	// grown since; it then still contains the commit.
	if _, err := b.line(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--refmap=", b.remote, b.ref); err != nil {
		return "", fmt.Errorf("cannot fetch the ledger from %s: %w", b.remote, err)
	}
	if seen != "" {
		switch _, err := b.line(ctx, "merge-base", "--is-ancestor", seen, tip); {
		case exitCode(err) == 1:
			return "", fmt.Errorf("%w: branch %s on %s was rewritten: its earlier commit %.12s is not part of %.12s; if this was intended, run `git update-ref -d %s`",
				ErrChanged, b.ref, b.remote, seen, tip, b.seen)
		case err != nil:
			return "", err
		}
	}
	// If another process of this repository was faster, its value is newer.
	_, _ = b.line(ctx, "update-ref", b.seen, tip, orNone(seen, tip))
	return tip, nil
}

// push pushes a commit without force, so that the remote accepts it only on top of its own tip. git
// explains failures only in prose, and an answer can be lost although the commit arrived. The
// content of the branch then decides.
func (b *branch) push(ctx context.Context, old, commit string) error {
	_, err := b.line(ctx, "push", "--quiet", "--no-verify", "--recurse-submodules=no", b.remote, commit+":"+b.ref)
	switch {
	case err == nil:
		_, _ = b.line(ctx, "update-ref", b.seen, commit, orNone(old, commit)) // if this fails, the next load does it
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("cannot push it to %s: %w; it may have arrived anyway: read the ledger again", b.remote, ctx.Err())
	case contended(err):
		return fmt.Errorf("%w (%w)", errConflict, err)
	default:
		return fmt.Errorf("cannot push it to %s: %w (%w); check that this user may push to %s there", b.remote, errRefused, err, b.ref)
	}
}
