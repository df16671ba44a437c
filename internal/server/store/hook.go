package store

import (
	"context"
	"fmt"
	"time"

	"github.com/goatnote-inc/pawl/internal/server/store/db"
)

// Hook is a destination for a project's notifications.
type Hook struct {
	ID      int64     `json:"id"`
	Kind    string    `json:"kind"` // slack, json or mail
	URL     string    `json:"url"`
	Secret  string    `json:"-"` // signs the messages
	Created time.Time `json:"created"`
}

// AddHook adds a hook. Its address is not checked here, but when it is called.
func (s *Store) AddHook(ctx context.Context, project int64, h Hook) (Hook, error) {
	row, err := db.New(s.of(project)).AddHook(ctx, db.AddHookParams{ProjectID: project, Kind: h.Kind, Url: h.URL, Secret: h.Secret, Created: s.now()})
	if violates(err, "23514") {
		return Hook{}, &InvalidError{fmt.Sprintf("unknown hook kind %q (known: slack, json, mail)", h.Kind)}
	}
	if err != nil {
		return Hook{}, fmt.Errorf("cannot add a hook to project %d: %w", project, input(err))
	}
	return hookOf(row), nil
}

// Hooks lists the hooks of a project, with their secrets.
func (s *Store) Hooks(ctx context.Context, project int64) ([]Hook, error) {
	rows, err := db.New(s.of(project)).Hooks(ctx, project)
	if err != nil {
		return nil, fmt.Errorf("cannot list the hooks of project %d: %w", project, err)
	}
	list := make([]Hook, len(rows))
	for n, row := range rows {
		list[n] = hookOf(row)
	}
	return list, nil
}

// RemoveHook deletes a hook.
func (s *Store) RemoveHook(ctx context.Context, project, id int64) error {
	n, err := db.New(s.of(project)).RemoveHook(ctx, db.RemoveHookParams{ProjectID: project, ID: id})
	return changed(n, err, "hook", id)
}

func hookOf(row db.PawlHook) Hook {
	return Hook{ID: row.ID, Kind: row.Kind, URL: row.Url, Secret: row.Secret, Created: row.Created.UTC()}
}
