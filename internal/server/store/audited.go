package store

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/store/db"
)

// ChangeAudited changes a project and adds a line to its audit log, atomically. do runs inside one
// transaction: it must use the store that it is given, which accepts only this project. The
// detail that do returns goes into the line, beside actor and action. A nil detail means that
// nothing was changed; then no line is written.
func (s *Store) ChangeAudited(ctx context.Context, project int64, actor, action string, do func(in *Store) (detail map[string]string, err error)) error {
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

// rows returns the connection for statements that name no project: the transaction of an audited change,
// or the pool.
func (s *Store) rows() db.DBTX {
	if s.tx != nil {
		return s.tx
	}
	return s.pool
}

// LockProject returns a project and locks its row until the end of the audited change.
func (s *Store) LockProject(ctx context.Context, project int64) (Project, error) {
	if _, err := s.rows().Exec(ctx, `select from pawl.project where id = $1 for update`, project); err != nil {
		return Project{}, fmt.Errorf("cannot lock project %d: %w", project, err)
	}
	return s.ProjectByID(ctx, project)
}
