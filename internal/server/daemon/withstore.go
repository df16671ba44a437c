package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/user"
	"time"

	"github.com/goatnote-inc/pawl/internal/server/blob"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// withStore runs an operator's command on the server's machine. It uses no account: access to the settings is
// the permission.
func (g *globals) withStore(ctx context.Context, do func(*config, *store.Store) error) error {
	c, err := g.load()
	if err != nil {
		return err
	}
	if err := c.needDatabase(); err != nil {
		return err
	}
	s, err := store.Open(ctx, store.Config{URL: c.Database.URL.Reveal(), Conns: 4, AllowUnsafe: c.Database.AllowUnsafe}, nil)
	if err != nil {
		return scrub(err, c)
	}
	defer s.Close()
	s.SetAuditKey([]byte(c.Audit.Key.Reveal()))
	if err := do(c, s); err != nil {
		if invalid, ok := errors.AsType[*store.InvalidError](err); ok {
			return usageError{invalid}
		}
		if errors.Is(err, store.ErrTaken) {
			return usageError{err}
		}
		return err
	}
	return nil
}

// withBlobs is withStore with the bucket of blobs.
func (g *globals) withBlobs(ctx context.Context, do func(*store.Store, *blob.Bucket) error) error {
	return g.withStore(ctx, func(c *config, s *store.Store) error {
		b, err := blob.Open(ctx, c.Blobs.URL)
		if err != nil {
			return err
		}
		defer b.Close()
		return do(s, b)
	})
}

// withProject is withStore with one project.
func (g *globals) withProject(ctx context.Context, slug string, do func(*config, *store.Store, store.Project) error) error {
	return g.withStore(ctx, func(c *config, s *store.Store) error {
		p, err := project(ctx, s, slug)
		if err != nil {
			return err
		}
		return do(c, s, p)
	})
}

// project returns the project with this slug, or a usage error.
func project(ctx context.Context, s *store.Store, slug string) (store.Project, error) {
	p, err := s.Project(ctx, slug)
	if errors.Is(err, store.ErrNotFound) {
		return p, usageError{fmt.Errorf("unknown project %q: run `pawld project list`", slug)}
	}
	return p, err
}

// operator returns the actor in the audit log for commands of this program.
func operator() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return "operator " + u.Username
	}
	return "operator"
}

// asJSON prints v as JSON.
func (g *globals) asJSON(v any) error {
	e := json.NewEncoder(g.Out)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// formatDay formats a time for lists.
func formatDay(t time.Time) string { return t.UTC().Format(time.DateOnly) }
