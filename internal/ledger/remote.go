package ledger

import (
	"context"
	"fmt"
	"strings"
)

// remoteTip asks the remote where its branch is, and fetches it.
func (b *branch) remoteTip(ctx context.Context) (string, error) {
	seen, err := b.resolve(ctx, b.seen)
	if err != nil {
		return "", err
	}
	out, err := b.line(ctx, "ls-remote", "--exit-code", b.remote, b.ref)
	if exitCode(err) == 2 { // git's word for: no such branch
		if seen != "" {
			return "", fmt.Errorf("%w: branch %s is gone from %s; bring it back with `git push %s %s:%s`, or, if that was meant, run `git update-ref -d %s`",
				ErrChanged, b.ref, b.remote, b.remote, seen, b.ref, b.seen)
		}
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("ask %s for the ledger: %w", b.remote, err)
	}
	tip, _, _ := strings.Cut(out, "\t")
	if tip == seen {
		return tip, nil
	}
	// The name, not the commit, is asked for: not every server gives out commits. The
	// branch may have grown since; the commit is part of it then.
	if _, err := b.line(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--refmap=", b.remote, b.ref); err != nil {
		return "", fmt.Errorf("fetch the ledger from %s: %w", b.remote, err)
	}
	if seen != "" {
		switch _, err := b.line(ctx, "merge-base", "--is-ancestor", seen, tip); {
		case exitCode(err) == 1:
			return "", fmt.Errorf("%w: branch %s on %s was rewritten: %.12s, which was there, is not part of %.12s; if that was meant, run `git update-ref -d %s`",
				ErrChanged, b.ref, b.remote, seen, tip, b.seen)
		case err != nil:
			return "", err
		}
	}
	// Another process of this repository may have been faster: then it knows better.
	_, _ = b.line(ctx, "update-ref", b.seen, tip, orNone(seen, tip))
	return tip, nil
}

// push offers a commit to the remote. It is not forced, so that the remote takes it
// only on top of what it has. Why it failed, git says in words for people, and an answer
// can be lost where the commit was not: what the branch holds then decides.
func (b *branch) push(ctx context.Context, old, commit string) error {
	_, err := b.line(ctx, "push", "--quiet", "--no-verify", "--recurse-submodules=no", b.remote, commit+":"+b.ref)
	switch {
	case err == nil:
		_, _ = b.line(ctx, "update-ref", b.seen, commit, orNone(old, commit)) // the next load does it otherwise
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("push it to %s: %w; whether it arrived is not known: read it again", b.remote, ctx.Err())
	case contended(err):
		return fmt.Errorf("%w (%w)", errConflict, err)
	default:
		return fmt.Errorf("push it to %s: %w (%w); may this user push to %s there?", b.remote, errRefused, err, b.ref)
	}
}
