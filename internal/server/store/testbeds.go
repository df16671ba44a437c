package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Testbeds returns all testbeds of a project, in the order they were added.
func (s *Store) Testbeds(ctx context.Context, project int64) ([]client.Testbed, error) {
	list, err := pg.List(ctx, s.db, project, scanTestbed, `select `+testbedSelect+` where project_id = $1 order by id limit `+pg.Limit(0), project)
	return list, pg.Wrap(err, "cannot list the testbeds of project %d", project)
}

// Testbed returns one testbed of a project, or ErrNotFound.
func (s *Store) Testbed(ctx context.Context, project, id int64) (client.Testbed, error) {
	t, err := pg.One(ctx, s.db, project, scanTestbed, `select `+testbedSelect+` where project_id = $1 and id = $2`, project, id)
	return t, pg.Wrap(err, "testbed %d of project %d", id, project)
}

// testbedSelect dates a testbed by its first measurement, because years of history may be uploaded in
// one day. The measurement times of forks are not trusted.
const testbedSelect = `id, key, facts, timer, least(first, (select min(measured) from pawl.report
	where report.project_id = testbed.project_id and report.testbed_id = testbed.id and lane <> 2)) from pawl.testbed`

func scanTestbed(row pgx.CollectableRow) (client.Testbed, error) {
	var t client.Testbed
	err := row.Scan(&t.ID, &t.Key, &t.Facts, &t.Timer, &t.First)
	t.First = t.First.UTC()
	return t, err
}

// TestbedHistory returns the health of a testbed during its newest runs since a time, oldest first. It
// uses the time of measurement, because a device's state is independent of commits.
func (s *Store) TestbedHistory(ctx context.Context, project, id int64, since time.Time, most int) ([]client.HealthRecord, error) {
	list, err := pg.List(ctx, s.db, project, scanCheckup, `select id, measured, sha, suite, lane, health from pawl.report
		where project_id = $1 and testbed_id = $2 and measured >= $3 order by measured desc, id desc limit `+pg.Limit(most), project, id, since)
	if err != nil {
		return nil, fmt.Errorf("cannot read the history of testbed %d of project %d: %w", id, project, err)
	}
	slices.Reverse(list)
	return list, nil
}

func scanCheckup(row pgx.CollectableRow) (client.HealthRecord, error) {
	var c client.HealthRecord
	var lane int16
	err := row.Scan(&c.Run, &c.Measured, &c.Commit, &c.Suite, &lane, &c.Health)
	c.Measured, c.Lane = c.Measured.UTC(), laneName(lane)
	return c, err
}
