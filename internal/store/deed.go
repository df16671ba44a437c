package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/store/db"
)

// Deed changes a project and writes the line of its audit log about it, both or neither. What
// do does with the store that it is given is part of one transaction, in which that project
// is the only one; detail is what the line tells besides who and what. A nil detail says
// that nothing was done, and writes no line.
func (s *Store) Deed(ctx context.Context, project int64, actor, action string, do func(in *Store) (detail map[string]string, err error)) error {
	return s.inProject(ctx, project, func(tx pgx.Tx) error {
		in := *s
		in.tx, in.within = tx, project
		detail, err := do(&in)
		if err != nil || detail == nil {
			return err
		}
		return audit(ctx, tx, project, s.now(), actor, action, detail)
	})
}

// rows is what statements that name no project run on: the transaction of a deed, or any
// connection.
func (s *Store) rows() db.DBTX {
	if s.tx != nil {
		return s.tx
	}
	return s.pool
}

// Locked is a project as it stays until the end of the deed: nobody else changes it
// meanwhile.
func (s *Store) Locked(ctx context.Context, project int64) (Project, error) {
	if _, err := s.rows().Exec(ctx, `select from pawl.project where id = $1 for update`, project); err != nil {
		return Project{}, fmt.Errorf("waiting for project %d: %w", project, err)
	}
	return s.ProjectByID(ctx, project)
}
