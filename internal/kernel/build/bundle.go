package build

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
)

// Bundle writes commits with their history to a git bundle at path. It names them base and head in a repository of its own below dir,
// which borrows the objects, so that the user's refs stay as they are.
func (r *Repository) Bundle(ctx context.Context, dir, path, base, head string) error {
	dir = filepath.Join(dir, "refs.git")
	format := "sha1"
	if len(head) == 64 {
		format = "sha256"
	}
	if _, err := git(ctx, r.Root, "init", "--quiet", "--bare", "--template=", "--object-format="+format, dir); err != nil {
		return fmt.Errorf("cannot make a bundle: %w", err)
	}
	info := filepath.Join(dir, "objects", "info")
	if err := os.MkdirAll(info, 0o700); err != nil {
		return fmt.Errorf("cannot make a bundle: %w", err)
	}
	if err := os.WriteFile(filepath.Join(info, "alternates"), []byte(filepath.Join(r.git, "objects")+"\n"), 0o600); err != nil {
		return fmt.Errorf("cannot make a bundle: %w", err)
	}
	for _, args := range [][]string{
		{"update-ref", "refs/heads/base", base},
		{"update-ref", "refs/heads/head", head},
		{"bundle", "create", "--quiet", path, "refs/heads/base", "refs/heads/head"},
	} {
		if _, err := git(ctx, dir, args...); err != nil {
			return fmt.Errorf("cannot make a bundle: %w", err)
		}
	}
	return nil
}
