package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// SeriesOrder is the order of a list of series with their changes.
type SeriesOrder string

// The orders.
const (
	ByName   SeriesOrder = "name"   // by suite, then by name
	ByNewest SeriesOrder = "newest" // newest change first; only series that changed
	ByWorst  SeriesOrder = "worst"  // worst change first; only series that changed
	ByNoise  SeriesOrder = "noise"  // noisiest first; only series whose noise is known
)

// SeriesChange is a series and its newest change.
type SeriesChange struct {
	client.Series
	Change client.Event // zero if there was none
}

// newestChanges is a table of the newest change of each series of project $1 since $2. Its cost does not grow
// with the number of series, nor with that of changes beyond a limit.
const newestChanges = `select distinct on (series_id) *, case when worse then 1 else -1 end * abs(ln("after" / "before")) as score
	from (select id, series_id, kind, worse, from_sha, to_sha, since, at, "before", "after", state, group_id
		from pawl.event where project_id = $1 and at >= $2 order by at desc, id desc limit 10000) newest
	order by series_id, at desc, id desc`

// seriesOrders holds how each order is written in SQL. s is the series, t its state, m its newest change.
var seriesOrders = map[SeriesOrder]struct {
	only  string // further condition
	after string // condition on what follows the last series of the previous page, whose id is %d
	by    string
}{
	// This is the order of the unique index of series, which makes a page as cheap as its rows.
	ByName: {
		"", `(s.suite, s.name, s.implementation, s.testbed_id, s.lane) >
		(select l.suite, l.name, l.implementation, l.testbed_id, l.lane from pawl.series l where l.project_id = $1 and l.id = $%d)`,
		"s.suite, s.name, s.implementation, s.testbed_id, s.lane",
	},
	ByNewest: {" and m.id is not null", "(m.at, s.id) < (select l.at, l.series_id from moved l where l.series_id = $%d)", "m.at desc, s.id desc"},
	ByWorst:  {" and m.id is not null", "(m.score, s.id) < (select l.score, l.series_id from moved l where l.series_id = $%d)", "m.score desc, s.id desc"},
	ByNoise: {
		" and t.noise > 0", `(t.noise, s.id) < (select l.noise, l.series_id from pawl.trend_state l where l.project_id = $1 and l.series_id = $%d)`,
		"t.noise desc, s.id desc",
	},
}

// SeriesChanges lists series in an order, each with its newest change since a time. It also counts the series of
// the project that changed since then, up to 10,000.
func (s *Store) SeriesChanges(ctx context.Context, project int64, q SeriesQuery, order SeriesOrder, since time.Time) (list []SeriesChange, changed int, err error) {
	o, known := seriesOrders[order]
	if !known {
		return nil, 0, &pg.InvalidError{What: fmt.Sprintf("unknown order %q (known: name, newest, worst, noise)", order)}
	}
	where := pg.Conditions{Args: []any{project, since}}
	pg.Where(&where, o.after, q.After)
	if err := q.where(&where); err != nil {
		return nil, 0, err
	}
	if asked := terms(q.Text); len(asked) > 0 {
		where.Add("s.words like all ($%d)", likeTerms(asked))
	}
	const count = `select count(*) from moved m join pawl.series s on s.project_id = $1 and s.id = m.series_id and s.excluded is null`
	const moved = `with moved as materialized (` + newestChanges + `) `
	sql := moved + `select ` + seriesColumns + `, (` + count + `), coalesce(m.id, 0), coalesce(m.kind, ''), coalesce(m.worse, false), coalesce(m.from_sha, ''), coalesce(m.to_sha, ''),
			coalesce(m.since, 'epoch'), coalesce(m.at, 'epoch'), coalesce(m."before", 0), coalesce(m."after", 0), coalesce(m.state, ''), coalesce(m.group_id, 0), coalesce(g.machine, 0) <> 0
		from ` + seriesTables + ` left join moved m on m.series_id = s.id
			left join pawl.event_group g on g.project_id = s.project_id and g.id = m.group_id
		where s.project_id = $1` + o.only + where.String() + ` order by ` + o.by + ` limit ` + pg.Limit(q.Limit)
	scan := func(row pgx.CollectableRow) (SeriesChange, error) { return scanSeriesChange(row, &changed) }
	err = s.db.ReadBatch(ctx, project, func(b *pgx.Batch) { pg.Queue(b, scan, &list, sql, where.Args...) })
	if err == nil && len(list) == 0 { // there is no row with the count
		err = s.db.ReadBatch(ctx, project, func(b *pgx.Batch) {
			b.Queue(moved+count, project, since).QueryRow(func(row pgx.Row) error { return row.Scan(&changed) })
		})
	}
	return list, changed, pg.Wrap(err, "cannot list the series of project %d", project)
}

func scanSeriesChange(row pgx.CollectableRow, changed *int) (c SeriesChange, err error) {
	e := &c.Change
	c.Series, err = scanSeriesAnd(row, changed, &e.ID, &e.Kind, &e.Worse, &e.From, &e.To, &e.Since, &e.At, &e.Before, &e.After, &e.State, &e.Group, &e.Machine)
	if e.ID == 0 {
		c.Change = client.Event{}
		return c, err
	}
	e.Series, e.Name, e.Testbed, e.Owners = c.ID, c.Name, c.Testbed, c.Owners
	e.Since, e.At = e.Since.UTC(), e.At.UTC()
	if e.Before != 0 {
		e.Change = e.After/e.Before - 1
	}
	return c, err
}
