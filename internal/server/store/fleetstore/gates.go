// Package fleetstore keeps devices, gates, their publications and the budgets of projects in PostgreSQL. It must not know
// how work reaches a device.
package fleetstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/fleet/calibration"
	"github.com/goatnote-inc/pawl/internal/fleet/gate"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Store is the part of the database that belongs to the fleet.
type Store struct{ db *pg.DB }

// New returns the fleet of a database.
func New(db *pg.DB) *Store { return &Store{db} }

// Part is a gate on one device model, with its result once there is one.
type Part struct {
	Gate    string     `json:"gate"`
	Model   string     `json:"model"`
	Change  string     `json:"change,omitzero"`
	Base    string     `json:"base"`
	Head    string     `json:"head"`
	Suite   string     `json:"suite"`
	State   gate.State `json:"state"`
	Device  string     `json:"device,omitzero"`
	Reason  string     `json:"reason,omitzero"`
	Attempt int        `json:"attempt"`
	Created time.Time  `json:"created"`
	Changed time.Time  `json:"changed"`
	Record  string     `json:"record,omitzero"`
	Exit    *int       `json:"exit,omitzero"` // set if a result was published
	Rounds  int        `json:"rounds,omitzero"`
	Seconds float64    `json:"seconds,omitzero"`
	Error   string     `json:"error,omitzero"`

	Calibration calibration.Record `json:"calibration,omitzero"` // of the card, when the result was published
}

// AddGate records a new gate before it starts. Adding it again changes nothing.
func (s *Store) AddGate(ctx context.Context, project int64, w gate.Work, models []string, change string) error {
	err := s.db.InProject(ctx, project, func(tx pgx.Tx) error {
		for _, model := range models {
			_, err := tx.Exec(ctx, `insert into pawl.gate (project_id, id, model, change, base, head, suite, bundle, state, created, changed)
				values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10) on conflict do nothing`,
				project, w.Gate, model, change, w.Base, w.Head, w.Suite, w.Bundle, gate.Waiting, s.db.Now())
			if err != nil {
				return err
			}
		}
		return nil
	})
	return pg.Wrap(pg.Input(err), "cannot record gate %s", w.Gate)
}

const selectParts = `select g.id, g.model, g.change, g.base, g.head, g.suite, g.state, g.device, g.reason, g.attempt, g.created, g.changed,
	coalesce(p.record, ''), p.exit, coalesce(p.rounds, 0), coalesce(p.seconds, 0), coalesce(p.error, ''), ` + calibrationColumns + `
	from pawl.gate g left join pawl.publication p on p.project_id = g.project_id and p.gate = g.id and p.commit = g.head and p.suite = g.suite and p.model = g.model
	left join pawl.calibration c on c.id = p.calibration
	where g.project_id = $1 `

// Gate returns the parts of a gate, or [pg.ErrNotFound].
func (s *Store) Gate(ctx context.Context, project int64, id string) ([]Part, error) {
	list, err := pg.List(ctx, s.db, project, scanPart, selectParts+`and g.id = $2 order by g.model`, project, id)
	if err == nil && len(list) == 0 {
		err = pg.ErrNotFound
	}
	return list, pg.Wrap(err, "gate %s", id)
}

// Open returns the parts of a project's gates that have not ended, oldest first.
func (s *Store) Open(ctx context.Context, project int64, limit int) ([]Part, error) {
	list, err := pg.List(ctx, s.db, project, scanPart, selectParts+`and g.state in ('waiting', 'measuring') order by g.created, g.id, g.model limit `+pg.Limit(limit), project)
	return list, pg.Wrap(err, "cannot list gates that have not ended")
}

func scanPart(row pgx.CollectableRow) (p Part, err error) {
	var at *time.Time
	err = row.Scan(append([]any{
		&p.Gate, &p.Model, &p.Change, &p.Base, &p.Head, &p.Suite, &p.State, &p.Device, &p.Reason, &p.Attempt, &p.Created, &p.Changed,
		&p.Record, &p.Exit, &p.Rounds, &p.Seconds, &p.Error,
	}, calibrationFields(&p.Calibration, &at)...)...)
	p.Created, p.Changed, p.Calibration.At = p.Created.UTC(), p.Changed.UTC(), timeOf(at)
	return p, err
}

// Older returns the gates of a change that have not ended, except one.
func (s *Store) Older(ctx context.Context, project int64, change, except string) ([]string, error) {
	list, err := pg.List(ctx, s.db, project, pgx.RowTo[string], `select distinct id from pawl.gate
		where project_id = $1 and change = $2 and id < $3 and state in ('waiting', 'measuring') limit 1000`, project, change, except)
	return list, pg.Wrap(err, "cannot list the gates of change %q", change)
}

// Note records how far a gate is, and raises its fence. A gate that has published stays as it is.
func (s *Store) Note(ctx context.Context, project int64, p gate.Progress) error {
	_, err := s.db.Of(project).Exec(ctx, `update pawl.gate set state = $4, device = $5, reason = $6, attempt = greatest(attempt, $7), changed = $8
		where project_id = $1 and id = $2 and model = $3 and state <> 'done'`,
		project, p.Gate, p.Model, p.State, p.Device, cut(p.Reason), p.Attempt, s.db.Now())
	return pg.Wrap(pg.Input(err), "cannot record the progress of gate %s", p.Gate)
}

// Publish records the result of a gate and ends it. It does nothing for a result that is already there, and returns a
// [FencedError] for an attempt that may not publish.
func (s *Store) Publish(ctx context.Context, project int64, p gate.Publication) error {
	if err := p.Result.Check(); err != nil {
		return &pg.InvalidError{What: "the result of device " + p.Device + ": " + err.Error()}
	}
	return s.db.InProject(ctx, project, func(tx pgx.Tx) error {
		var f gate.Fence
		err := tx.QueryRow(ctx, `select attempt from pawl.gate where project_id = $1 and id = $2 and model = $3 for update`, project, p.Gate, p.Model).Scan(&f.Attempt)
		if err != nil {
			return pg.Wrap(pg.Found(err), "gate %s on %s", p.Gate, p.Model)
		}
		err = tx.QueryRow(ctx, `select attempt from pawl.publication where project_id = $1 and gate = $2 and commit = $3 and suite = $4 and model = $5`,
			project, p.Gate, p.Commit, p.Suite, p.Model).Scan(&f.Published)
		if err != nil && !pg.None(err) {
			return pg.Wrap(err, "cannot read the publication of gate %s", p.Gate)
		}
		fresh, err := f.Publish(p.Result.Attempt)
		if err != nil {
			return &FencedError{fmt.Errorf("gate %s on %s: %w", p.Gate, p.Model, err)}
		}
		if !fresh {
			return nil
		}
		r := p.Result
		_, err = tx.Exec(ctx, `insert into pawl.publication (project_id, gate, commit, suite, model, attempt, device, record, exit, rounds, seconds, error, at, calibration)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, (select max(c.id) from pawl.calibration c where c.device = $7 and c.error = ''))`,
			project, p.Gate, p.Commit, p.Suite, p.Model, r.Attempt, p.Device, r.Record, r.Exit, r.Rounds, r.Seconds, cut(r.Error), s.db.Now())
		if err != nil {
			return pg.Wrap(pg.Input(err), "cannot publish gate %s", p.Gate)
		}
		if _, err := tx.Exec(ctx, `update pawl.device set driver = $2 where id = $1 and driver <> $2 and $2 <> ''`, p.Device, short(r.Driver)); err != nil {
			return pg.Wrap(pg.Input(err), "cannot record the driver of device %s", p.Device)
		}
		_, err = tx.Exec(ctx, `update pawl.gate set state = 'done', device = $4, reason = '', attempt = $5, changed = $6 where project_id = $1 and id = $2 and model = $3`,
			project, p.Gate, p.Model, p.Device, r.Attempt, s.db.Now())
		return pg.Wrap(err, "cannot end gate %s", p.Gate)
	})
}

// A FencedError means that an attempt may not publish, because a later one has started or another one has published.
type FencedError struct{ err error }

func (e *FencedError) Error() string { return e.err.Error() }

func (e *FencedError) Unwrap() error { return e.err }

// cut bounds the words of an agent.
func cut(text string) string { return cutAt(text, 1000) }

// short bounds a name from an agent.
func short(text string) string { return cutAt(text, 100) }

func cutAt(text string, most int) string {
	text = strings.ReplaceAll(text, "\x00", "")        // PostgreSQL stores none
	return string([]rune(text[:min(len(text), most)])) // half a character becomes a replacement character
}
