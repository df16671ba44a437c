package store

import (
	"context"
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/store/db"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// AddHook adds a hook. Its address is not checked here, but when it is called.
func (s *Store) AddHook(ctx context.Context, project int64, h alert.Hook) (alert.Hook, error) {
	if err := s.room(ctx, project, countedHooks, s.bounds.Hooks); err != nil {
		return alert.Hook{}, err
	}
	row, err := db.New(s.db.Of(project)).AddHook(ctx, db.AddHookParams{ProjectID: project, Kind: h.Kind, Url: h.URL, Secret: h.Secret, Created: s.db.Now()})
	if pg.Violates(err, "23514") {
		return alert.Hook{}, &pg.InvalidError{What: fmt.Sprintf("unknown hook kind %q (known: slack, json, mail)", h.Kind)}
	}
	return hookOf(row), pg.Wrap(pg.Input(err), "cannot add a hook to project %d", project)
}

// Hooks lists the hooks of a project, with their secrets.
func (s *Store) Hooks(ctx context.Context, project int64) ([]alert.Hook, error) {
	rows, err := db.New(s.db.Of(project)).Hooks(ctx, project)
	return each(rows, hookOf), pg.Wrap(err, "cannot list the hooks of project %d", project)
}

// HookByID implements [alert.DigestSource].
func (s *Store) HookByID(ctx context.Context, project, hook int64) (alert.Hook, error) {
	list, err := s.Hooks(ctx, project)
	if err != nil {
		return alert.Hook{}, err
	}
	i := slices.IndexFunc(list, func(h alert.Hook) bool { return h.ID == hook })
	if i < 0 {
		return alert.Hook{}, fmt.Errorf("%w: hook %d of project %d was removed", alert.ErrRefused, hook, project)
	}
	return list[i], nil
}

// RemoveHook deletes a hook.
func (s *Store) RemoveHook(ctx context.Context, project, id int64) error {
	n, err := db.New(s.db.Of(project)).RemoveHook(ctx, db.RemoveHookParams{ProjectID: project, ID: id})
	return changed(n, err, "hook", id)
}

func hookOf(row db.PawlHook) alert.Hook {
	return alert.Hook{ID: row.ID, Kind: row.Kind, URL: row.Url, Secret: row.Secret, Created: row.Created.UTC()}
}

// each converts rows of the database.
func each[Row, T any](rows []Row, convert func(Row) T) []T {
	list := make([]T, len(rows))
	for n, row := range rows {
		list[n] = convert(row)
	}
	return list
}
