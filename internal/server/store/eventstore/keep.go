package eventstore

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Keep implements alert.ScanTx. It uses three statements for any number of series, plus one per new
// event.
func (d scanTx) Keep(ctx context.Context, outcomes []*alert.Outcome) error {
	if len(outcomes) == 0 {
		return nil
	}
	b := &pgx.Batch{}
	var gone, empty []int64
	var known []*alert.Outcome
	for _, o := range outcomes {
		gone = append(gone, o.Gone...)
		if o.Known.Points == 0 {
			empty = append(empty, o.Series)
		} else {
			known = append(known, o)
		}
	}
	d.keepKnown(b, known)
	if len(empty) > 0 {
		b.Queue(`delete from pawl.trend_state where project_id = $1 and series_id = any($2)`, d.project, empty)
	}
	if len(gone) > 0 { // first, because new events may take their positions
		b.Queue(`delete from pawl.event where project_id = $1 and id = any($2)`, d.project, gone)
	}
	for _, o := range outcomes {
		for _, e := range o.Changed {
			d.keepEvent(b, e)
		}
	}
	if err := d.tx.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("cannot write the results of %d series: %w", len(outcomes), err)
	}
	failpoint.At("look.events-written")
	return nil
}

// keepKnown writes the stored state of series.
func (d scanTx) keepKnown(b *pgx.Batch, outcomes []*alert.Outcome) {
	n := len(outcomes)
	series, versions, points := make([]int64, n), make([]int32, n), make([]int32, n)
	first, last := make([]time.Time, n), make([]time.Time, n)
	values, noise := make([]float32, n), make([]float32, n)
	two, states := make([]bool, n), make([][]byte, n)
	for i, o := range outcomes {
		k := o.Known
		series[i], versions[i], points[i], first[i], last[i] = o.Series, int32(k.Version), int32(k.Points), k.First, k.Last
		values[i], noise[i], two[i], states[i] = float32(k.Value), float32(k.Noise), k.TwoSpeeds, k.State
	}
	b.Queue(`insert into pawl.trend_state (project_id, series_id, version, points, first_at, last_at, last, noise, two_speeds, state)
		select $1, * from unnest($2::bigint[], $3::int[], $4::int[], $5::timestamptz[], $6::timestamptz[], $7::real[], $8::real[], $9::boolean[], $10::bytea[])
		on conflict (project_id, series_id) do update set version = excluded.version, points = excluded.points, first_at = excluded.first_at,
			last_at = excluded.last_at, last = excluded.last, noise = excluded.noise, two_speeds = excluded.two_speeds, state = excluded.state`,
		d.project, series, versions, points, first, last, values, noise, two, states)
}

// keepEvent writes one event. It leaves the state and note set by people unchanged.
func (d scanTx) keepEvent(b *pgx.Batch, e *alert.Event) {
	args := []any{d.project, e.FirstReport, e.Worse, e.From, e.To, e.Since, e.At, e.Before, e.After, e.P, e.Commits}
	if e.ID != 0 {
		b.Queue(`update pawl.event set first_report = $2, worse = $3, from_sha = $4, to_sha = $5, since = $6, at = $7, before = $8, after = $9, p = $10, commits = $11
			where project_id = $1 and id = $12`, append(args, e.ID)...)
		return
	}
	b.Queue(`insert into pawl.event (project_id, first_report, worse, from_sha, to_sha, since, at, before, after, p, commits, series_id, kind)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) returning id`, append(args, e.Series, e.Kind)...).
		QueryRow(func(row pgx.Row) error { return row.Scan(&e.ID) })
}

// Groups implements alert.ScanTx.
func (d scanTx) Groups(ctx context.Context, ids []int64) ([]alert.Group, error) {
	list, err := pg.Collect(ctx, d.tx, func(row pgx.CollectableRow) (g alert.Group, err error) {
		var worst float32
		var told *time.Time
		err = row.Scan(&g.ID, &g.From, &g.To, &g.At, &worst, &g.Series, &g.Worse, &g.Machine, &told, &g.Events)
		if g.Worst = float64(worst); told != nil {
			g.Told = told.UTC()
		}
		return g, err
	}, `select g.id, g.from_sha, g.to_sha, g.at, g.worst, g.series, g.worse, g.machine, g.told,
			array(select e.id from pawl.event e where e.project_id = $1 and e.group_id = g.id order by e.id)
		from pawl.event_group g where g.project_id = $1 and g.id = any($2) order by g.id`, d.project, ids)
	return list, pg.Wrap(err, "cannot read event groups")
}

// KeepGroups implements alert.ScanTx.
func (d scanTx) KeepGroups(ctx context.Context, groups []*alert.Group, gone []int64) error {
	b := &pgx.Batch{}
	for _, g := range groups {
		var told *time.Time
		if !g.Told.IsZero() {
			told = &g.Told
		}
		args := []any{d.project, g.From, g.To, g.At, float32(g.Worst), g.Series, g.Worse, g.Machine, told}
		const sets = `with g as (%s returning id), e as (
			update pawl.event set group_id = g.id from g where project_id = $1 and event.id = any($10) and group_id is distinct from g.id)
			select id from g`
		sql := `insert into pawl.event_group (project_id, from_sha, to_sha, at, worst, series, worse, machine, told) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
		args = append(args, g.Events)
		if g.ID != 0 {
			sql = `update pawl.event_group set from_sha = $2, to_sha = $3, at = $4, worst = $5, series = $6, worse = $7, machine = $8, told = $9
				where project_id = $1 and id = $11`
			args = append(args, g.ID)
		}
		b.Queue(fmt.Sprintf(sets, sql), args...).QueryRow(func(row pgx.Row) error { return row.Scan(&g.ID) })
	}
	if len(gone) > 0 {
		b.Queue(`update pawl.event set group_id = null where project_id = $1 and group_id = any($2)`, d.project, gone)
		b.Queue(`delete from pawl.event_group where project_id = $1 and id = any($2)`, d.project, gone)
	}
	if err := d.tx.SendBatch(ctx, b).Close(); err != nil {
		return fmt.Errorf("cannot write %d event groups: %w", len(groups), err)
	}
	failpoint.At("look.groups-written")
	return nil
}
