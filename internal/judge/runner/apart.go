package runner

import (
	"context"
	"os"
	"os/exec"
	"slices"

	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/harness"
	"github.com/goatnote-inc/pawl/measure"
)

// setupIsolation checks whether the processes of the sides can be isolated from each other. Launchers do
// not need this: they run the code of a change in an unprivileged process.
func (r *Setup) setupIsolation(ctx context.Context) error {
	if r.checked() || len(r.sides) < 2 || os.Getenv(build.SandboxVariable) == "never" {
		return nil
	}
	apart, err := build.FindIsolation(ctx)
	switch {
	case err == nil:
	case r.trust() == measure.SelfTimed:
		return err
	default:
		r.warn("apart", "each side could access the processes and files of the other: %v", err)
		return nil
	}
	r.isolation = apart
	if repo, err := build.Open(ctx, r.Dir); err == nil {
		r.locked = append(r.locked, repo.Metadata())
	}
	if dir, err := build.CacheDir(); err == nil {
		r.locked = append(r.locked, dir)
	}
	return nil
}

// isolate isolates a command of a side. Files that it could gain from changing are read-only for
// it: the trees of the other sides, git's files, and what pawl keeps for later runs.
func (r *Setup) isolate(s side, c *harness.Command) {
	if r.isolation == nil {
		return
	}
	own := []string{os.TempDir()} // may be inside a read-only tree
	locked := slices.Clone(r.locked)
	if s.root != "" {
		own = append(own, s.root)
	}
	for _, other := range r.sides {
		if other.root != "" && other.root != s.root {
			locked = append(locked, other.root)
		}
	}
	c.Confine = func(cmd *exec.Cmd) (func(), error) { return r.isolation.Confine(cmd, own, locked) }
}
