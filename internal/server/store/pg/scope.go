package pg

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/goatnote-inc/pawl/internal/server/store/db"
)

// SelectProject sets the project whose rows are visible, for the rest of a transaction. The setting ends
// with the transaction, so a pooled connection does not carry it over.
const SelectProject = `select set_config('pawl.project', $1, true)`

// InProject runs a transaction that sees and writes only rows of one project. It is for several
// statements that belong together; a single one goes through [DB.Of].
func (d *DB) InProject(ctx context.Context, project int64, do func(tx pgx.Tx) error) error {
	return d.InProjectWith(ctx, project, "", do)
}

// InProjectWith is InProject with more statements sent in the first round trip. Pass settings as set,
// not as select: a select is planned, which costs more than the rest.
func (d *DB) InProjectWith(ctx context.Context, project int64, more string, do func(tx pgx.Tx) error) error {
	if d.tx != nil {
		return d.joined(project, more, do)
	}
	begin := fmt.Sprintf("begin; set local pawl.project = '%d'%s", project, more)
	tx, err := d.Pool.BeginTx(ctx, pgx.TxOptions{BeginQuery: begin})
	if err != nil {
		return fmt.Errorf("cannot start a transaction of project %d: %w", project, err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // does nothing after a commit
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit(ctx)
}

// joined runs do inside the transaction of [DB.Within].
func (d *DB) joined(project int64, more string, do func(tx pgx.Tx) error) error {
	if project != d.within || more != "" {
		return fmt.Errorf("a change in project %d cannot contain one in project %d", d.within, project)
	}
	return do(d.tx)
}

// Of returns a view of the database that contains only rows of one project. Every statement is its own
// transaction and one round trip, because it is sent together with the project's name. The queries of
// package db run on it.
func (d *DB) Of(project int64) db.DBTX { return view{d, "pawl.project", project} }

// OfAccount is [DB.Of] for the rows that one account may see.
func (d *DB) OfAccount(account int64) db.DBTX { return view{d, "pawl.account", account} }

// view sets a scope (a project or an account) before each statement.
type view struct {
	d       *DB
	setting string
	id      int64
}

// ReadBatch sends all queries of a batch in one round trip, as one transaction of one project. The
// callbacks of the queries have run when it returns.
func (d *DB) ReadBatch(ctx context.Context, project int64, fill func(b *pgx.Batch)) error {
	b := &pgx.Batch{}
	b.Queue(SelectProject, strconv.FormatInt(project, 10))
	fill(b)
	return d.sendBatch(ctx, b).Close()
}

func (d *DB) sendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults {
	if d.tx != nil {
		return d.tx.SendBatch(ctx, b)
	}
	return d.Pool.SendBatch(ctx, b)
}

func (v view) send(ctx context.Context, sql string, args []any) (pgx.BatchResults, error) {
	if v.d.tx != nil && (v.setting != "pawl.project" || v.id != v.d.within) {
		return nil, fmt.Errorf("a change in project %d cannot query %s %d", v.d.within, v.setting, v.id)
	}
	b := &pgx.Batch{}
	b.Queue(`select set_config($1, $2, true)`, v.setting, strconv.FormatInt(v.id, 10))
	b.Queue(sql, args...)
	results := v.d.sendBatch(ctx, b)
	if _, err := results.Exec(); err != nil {
		return nil, errors.Join(err, results.Close())
	}
	return results, nil
}

// Exec implements db.DBTX.
func (v view) Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error) {
	results, err := v.send(ctx, sql, args)
	if err != nil {
		return pgconn.CommandTag{}, err
	}
	tag, err := results.Exec()
	if closing := results.Close(); err == nil {
		err = closing
	}
	return tag, err
}

// Query implements db.DBTX.
func (v view) Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error) {
	results, err := v.send(ctx, sql, args)
	if err != nil {
		return nil, err
	}
	rows, err := results.Query()
	if err != nil {
		return nil, errors.Join(err, results.Close())
	}
	return &scopedRows{Rows: rows, results: results}, nil
}

// QueryRow implements db.DBTX.
func (v view) QueryRow(ctx context.Context, sql string, args ...any) pgx.Row {
	rows, err := v.Query(ctx, sql, args...)
	return scopedRow{rows, err}
}

// scopedRows releases the connection after the last row.
type scopedRows struct {
	pgx.Rows
	results pgx.BatchResults
	closed  bool
	err     error
}

func (r *scopedRows) Next() bool {
	more := r.Rows.Next()
	if !more {
		r.Close()
	}
	return more
}

func (r *scopedRows) Close() {
	if r.closed {
		return
	}
	r.closed = true
	r.Rows.Close()
	// Only the batch reports a statement that fails late, or a failed commit.
	r.err = r.results.Close()
}

func (r *scopedRows) Err() error {
	if err := r.Rows.Err(); err != nil {
		return err
	}
	return r.err
}

type scopedRow struct {
	rows pgx.Rows
	err  error
}

func (r scopedRow) Scan(dest ...any) error {
	if r.err != nil {
		return r.err
	}
	defer r.rows.Close()
	if !r.rows.Next() {
		if err := r.rows.Err(); err != nil {
			return err
		}
		return pgx.ErrNoRows
	}
	if err := r.rows.Scan(dest...); err != nil {
		return err
	}
	r.rows.Close()
	return r.rows.Err()
}
