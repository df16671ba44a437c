package store

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/store/pg"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// suiteTestbed identifies the runs that can be neighbors: those of one suite on one testbed.
type suiteTestbed struct {
	suite   string
	testbed int64
}

// span is the time between two runs.
type span struct{ from, to time.Time }

func (s span) touches(o span) bool { return !s.from.After(o.to) && !o.from.After(s.to) }

// sampled is a run with raw samples, and the time range that its neighbors on both sides cover.
type sampled struct {
	ID      int64
	Suite   string
	Testbed int64
	Lane    int16
	From    time.Time
	To      time.Time
}

// dropSamples removes references to raw samples of runs that were measured before a time and are
// not near a change of the default branch. The bytes are deleted when nothing refers to them.
func (s *Store) dropSamples(ctx context.Context, project int64, before time.Time) (gone int, err error) {
	changes, err := s.changes(ctx, project)
	if err != nil {
		return 0, err
	}
	const sql = `select r.id, r.suite, r.testbed_id, r.lane, coalesce(b.at, $6), coalesce(a.at, $7) from (
			select * from pawl.report r where project_id = $1 and id > $2 and measured < $3
				and exists (select from pawl.report_blob b where b.project_id = $1 and b.report_id = r.id and b.kind = 'samples')
			order by id limit $5) r
		left join lateral (select at from pawl.report where project_id = $1 and suite = r.suite and lane = 0 and testbed_id = r.testbed_id
			and at < r.at order by at desc offset $4 limit 1) b on true
		left join lateral (select at from pawl.report where project_id = $1 and suite = r.suite and lane = 0 and testbed_id = r.testbed_id
			and at > r.at order by at offset $4 limit 1) a on true
		order by r.id`
	for after := int64(0); ; {
		runs, err := pg.List(ctx, s.db, project, pgx.RowToStructByPos[sampled], sql, project, after, before, sampleNeighbors-1, retainBatch, time.Time{}, pointstore.Future)
		if err != nil || len(runs) == 0 {
			return gone, err
		}
		var drop []int64
		for _, r := range runs {
			if r.Lane != 0 || !slices.ContainsFunc(changes[suiteTestbed{r.Suite, r.Testbed}], span{r.From, r.To}.touches) {
				drop = append(drop, r.ID)
			}
		}
		tag, err := s.db.Of(project).Exec(ctx, `delete from pawl.report_blob where project_id = $1 and report_id = any($2) and kind = 'samples'`, project, drop)
		if err != nil {
			return gone, err
		}
		gone += int(tag.RowsAffected())
		after = runs[len(runs)-1].ID
	}
}

// changes returns the events of a project that were not marked as false, by suite and testbed.
func (s *Store) changes(ctx context.Context, project int64) (map[suiteTestbed][]span, error) {
	all := map[suiteTestbed][]span{}
	err := s.db.ReadBatch(ctx, project, func(b *pgx.Batch) {
		// Many series change at the same commit, which is one place.
		b.Queue(`select distinct s.suite, s.testbed_id, e.since, e.at from pawl.event e
			join pawl.series s on s.project_id = e.project_id and s.id = e.series_id
			where e.project_id = $1 and e.state <> 'false-alarm'`, project).Query(func(rows pgx.Rows) error {
			var at suiteTestbed
			var c span
			_, err := pgx.ForEachRow(rows, []any{&at.suite, &at.testbed, &c.from, &c.to}, func() error {
				all[at] = append(all[at], c)
				return nil
			})
			return err
		})
	})
	return all, err
}
