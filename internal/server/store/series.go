package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// SeriesQuery filters a list of series. Empty fields do not filter.
type SeriesQuery struct {
	Suite   string
	Testbed int64
	Lane    client.Lane
	Name    string // the whole name
	Text    string // each of its words must start a word of the name, suite, implementation, path or owners, ignoring case
	After   int64  // the last id of the previous page
	Limit   int    // 0 means [pg.MaxListed]
}

// seriesColumns are the columns that scanSeries reads; the query names the tables s and t. Excluded series are
// not among them.
const (
	seriesColumns = `s.id, s.benchmark, s.config, s.cache, s.metric, s.implementation, s.name, s.suite, s.testbed_id, s.lane, s.unit, s.better,
		s.path, s.owners, s.created, coalesce(t.points, 0), coalesce(t.last, 0), t.last_at, coalesce(t.noise, 0), coalesce(t.two_speeds, false)`
	seriesTables = `(select * from pawl.series where excluded is null) s left join pawl.trend_state t on t.project_id = s.project_id and t.series_id = s.id`
)

// SeriesList lists series in id order.
func (s *Store) SeriesList(ctx context.Context, project int64, q SeriesQuery) ([]client.Series, error) {
	where := pg.Conditions{Args: []any{project, nil}}
	if err := q.where(&where); err != nil {
		return nil, err
	}
	list, err := s.listSeries(ctx, project, q, &where)
	return list, pg.Wrap(err, "cannot list the series of project %d", project)
}

// where adds the conditions of a query, except for its page and its text.
func (q SeriesQuery) where(c *pg.Conditions) error {
	pg.Where(c, "s.suite = $%d", q.Suite)
	pg.Where(c, "s.testbed_id = $%d", q.Testbed)
	pg.Where(c, "s.name = $%d", q.Name)
	return whereLane(c, "s.lane = $%d", q.Lane)
}

// listSeries reads a list whose conditions leave their parameter $2 to the ids.
func (s *Store) listSeries(ctx context.Context, project int64, q SeriesQuery, where *pg.Conditions) (list []client.Series, err error) {
	asked := terms(q.Text)
	if len(asked) > 0 {
		where.Add("s.words like all ($%d)", likeTerms(asked))
	} else if strings.TrimSpace(q.Text) != "" {
		return nil, nil // no series has a word without letters and digits
	}
	most := pg.MaxListed
	if q.Limit > 0 {
		most = min(q.Limit, most)
	}
	err = s.eachMatch(ctx, project, asked, q.After, func(ids string, value any) (enough bool, err error) {
		where.Args[1] = value
		some, err := pg.List(ctx, s.db, project, scanSeries,
			`select `+seriesColumns+` from `+seriesTables+` where s.project_id = $1 and `+ids+where.String()+` order by s.id limit `+pg.Limit(q.Limit), where.Args...)
		list = append(list, some...)
		return len(list) >= most, err
	})
	return list[:min(len(list), most)], err
}

// EachPoint calls do with all points of a project and their commits, series by series in id order,
// in chunks of one series. A chunk is valid only until do returns. Memory use does not grow with
// the number of points. Points that arrive meanwhile may be missing.
func (s *Store) EachPoint(ctx context.Context, project int64, do func(client.Series, []client.StoredPoint) error) error {
	for after := int64(0); ; {
		list, err := s.SeriesList(ctx, project, SeriesQuery{After: after})
		if err != nil || len(list) == 0 {
			return err
		}
		if err := s.EachOf(ctx, project, list, do); err != nil {
			return fmt.Errorf("cannot read the points of project %d: %w", project, err)
		}
		after = list[len(list)-1].ID
	}
}

// SeriesByID returns one series, or ErrNotFound.
func (s *Store) SeriesByID(ctx context.Context, project, id int64) (client.Series, error) {
	one, err := pg.One(ctx, s.db, project, scanSeries, `select `+seriesColumns+` from `+seriesTables+` where s.project_id = $1 and s.id = $2`, project, id)
	return one, pg.Wrap(err, "series %d of project %d", id, project)
}

// SeriesByIDs returns the series that exist, in id order.
func (s *Store) SeriesByIDs(ctx context.Context, project int64, ids []int64) ([]client.Series, error) {
	list, err := pg.List(ctx, s.db, project, scanSeries,
		`select `+seriesColumns+` from `+seriesTables+` where s.project_id = $1 and s.id = any($2) order by s.id`, project, ids)
	return list, pg.Wrap(err, "cannot read %d series of project %d", len(ids), project)
}

// Suites returns the sorted names of all suites ever reported. Each costs one index lookup, however
// many series it has.
func (s *Store) Suites(ctx context.Context, project int64) ([]string, error) {
	const sql = `with recursive suites as (
		(select suite from pawl.series where project_id = $1 order by suite limit 1)
		union all
		select (select s.suite from pawl.series s where s.project_id = $1 and s.suite > suites.suite order by s.suite limit 1)
		from suites where suites.suite is not null)
		select suite from suites where suite is not null limit 1000`
	list, err := pg.List(ctx, s.db, project, pgx.RowTo[string], sql, project)
	return list, pg.Wrap(err, "cannot list the suites of project %d", project)
}

func scanSeries(row pgx.CollectableRow) (client.Series, error) { return scanSeriesAnd(row) }

// scanSeriesAnd reads seriesColumns and the columns after them.
func scanSeriesAnd(row pgx.CollectableRow, more ...any) (client.Series, error) {
	var s client.Series
	var lane int16
	var last, noise float32
	var at *time.Time
	err := row.Scan(append([]any{
		&s.ID, &s.Benchmark, &s.Config, &s.Cache, &s.Metric, &s.Implementation, &s.Name, &s.Suite, &s.Testbed, &lane, &s.Unit, &s.Better,
		&s.Path, &s.Owners, &s.Created, &s.Points, &last, &at, &noise, &s.TwoSpeeds,
	}, more...)...)
	s.Lane, s.Last, s.Noise = laneName(lane), float64(last), float64(noise)
	if s.Created = s.Created.UTC(); at != nil {
		s.LastAt = at.UTC()
	}
	return s, err
}
