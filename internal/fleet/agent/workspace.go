package agent

import (
	"context"
	"fmt"
	"os"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/base/shell"
)

// prepare makes the workspace of a lease: a new repository with the two commits, and nothing of the machine's or the bundle's
// configuration. A workspace that an earlier attempt finished is used again.
func (a *Agent) prepare(ctx context.Context, d *leaseDir) error {
	ready := d.file("ready")
	if _, err := os.Stat(ready); err == nil {
		return nil
	}
	if err := removeAll(d.file("work")); err != nil {
		return fmt.Errorf("cannot clear a workspace: %w", err)
	}
	if err := a.fetch(ctx, d, d.lease.Bundle, d.file("bundle")); err != nil {
		return err
	}
	if err := a.checkout(ctx, d); err != nil {
		return err
	}
	if err := os.Remove(d.file("bundle")); err != nil {
		return fmt.Errorf("cannot remove a bundle: %w", err)
	}
	if err := disk.WriteAtomic(ready, nil); err != nil {
		return fmt.Errorf("cannot prepare a workspace: %w", err)
	}
	return nil
}

// checkout unpacks the bundle and checks out the head. Errors of git are those of the bundle, and stay.
func (a *Agent) checkout(ctx context.Context, d *leaseDir) error {
	work := d.file("work")
	format := "sha1"
	if len(d.lease.Base) == 64 {
		format = "sha256"
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--template=", "--object-format=" + format, work},
		{"-C", work, "bundle", "unbundle", d.file("bundle")},
		{"-C", work, "cat-file", "-e", d.lease.Base + "^{commit}"},
		{"-C", work, "cat-file", "-e", d.lease.Head + "^{commit}"},
		{"-C", work, "update-ref", "refs/pawl/base", d.lease.Base}, // keeps it from being collected
		{"-C", work, "checkout", "--quiet", "--detach", "--no-recurse-submodules", d.lease.Head},
	} {
		if _, err := shell.GitUntrusted(ctx, d.path, nil, args...); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return permanent(fmt.Errorf("cannot check out the commits of the lease: %w", err))
		}
	}
	return nil
}
