package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
	"github.com/goatnote-inc/pawl/measure"
)

// Limits of a heat map.
const (
	MostHeatCommits = 200
	MostHeatSeries  = 500
)

// HeatQuery selects a heat map.
type HeatQuery struct {
	Suite          string
	Testbed        int64  // 0 means the one measured last
	Implementation string // empty means candidate
	Commits        int    // number of newest commits; 0 means 50
}

// Heat is a heat map of a suite: the value of each config at each of the last commits of the
// default branch.
type Heat struct {
	Suite   string              `json:"suite"`
	Testbed int64               `json:"testbed"`
	Commits []client.HeatColumn `json:"commits"` // oldest first
	Rows    []HeatRow           `json:"rows"`    // by name
	More    bool                `json:"more"`    // the suite has more series than shown
}

// HeatRow is one series. Values has one entry per commit, 0 if the series was not measured there.
type HeatRow struct {
	Series client.Series `json:"series"`
	Values []float32     `json:"values"`
}

// Heat reads a heat map. It reads only the reports and series of the suite, and their points
// between the first and last commit shown.
func (s *Store) Heat(ctx context.Context, project int64, q HeatQuery) (Heat, error) {
	q.Commits = min(cmp.Or(q.Commits, 50), MostHeatCommits)
	q.Implementation = cmp.Or(q.Implementation, measure.Candidate)
	h := Heat{Suite: q.Suite, Testbed: q.Testbed}
	err := s.db.InProject(ctx, project, func(tx pgx.Tx) error {
		if h.Testbed == 0 {
			err := tx.QueryRow(ctx, `select testbed_id from pawl.report where project_id = $1 and suite = $2 and lane = 0 order by at desc, id desc limit 1`, project, q.Suite).Scan(&h.Testbed)
			if err != nil {
				return pg.Found(err)
			}
		}
		reports, err := h.readColumns(ctx, tx, project, q)
		if err != nil {
			return err
		}
		if err := h.readRows(ctx, tx, project, q); err != nil {
			return err
		}
		return h.fill(ctx, tx, project, reports)
	})
	return h, pg.Wrap(err, "cannot read the heat map of suite %q of project %d", q.Suite, project)
}

// readColumns finds the last commits. It returns the column of each report's points.
func (h *Heat) readColumns(ctx context.Context, tx pgx.Tx, project int64, q HeatQuery) (map[int64]int, error) {
	// A commit may have many reports, so the number of reports read is bounded.
	rows, err := tx.Query(ctx, `select r.id, r.sha, r.at, coalesce(v.title, '') from (
		select id, sha, at from pawl.report where project_id = $1 and suite = $2 and lane = 0 and testbed_id = $3 order by at desc, id desc limit $4) r
		left join pawl.revision v on v.project_id = $1 and v.sha = r.sha order by r.at desc, r.id desc`, project, q.Suite, h.Testbed, 10*q.Commits)
	if err != nil {
		return nil, err
	}
	reports := map[int64]int{} // columns, counted from the newest
	var c client.HeatColumn
	_, err = pgx.ForEachRow(rows, []any{&c.Run, &c.Commit, &c.At, &c.Title}, func() error {
		i := slices.IndexFunc(h.Commits, func(o client.HeatColumn) bool { return o.Commit == c.Commit })
		if i < 0 && len(h.Commits) < q.Commits {
			i = len(h.Commits)
			c.At = c.At.UTC()
			h.Commits = append(h.Commits, c)
		}
		if i >= 0 {
			reports[c.Run] = i
		}
		return nil
	})
	for id, i := range reports {
		reports[id] = len(h.Commits) - 1 - i
	}
	slices.Reverse(h.Commits)
	return reports, err
}

func (h *Heat) readRows(ctx context.Context, tx pgx.Tx, project int64, q HeatQuery) error {
	list, err := pg.Collect(ctx, tx, scanSeries, `select `+seriesColumns+` from `+seriesTables+`
		where s.project_id = $1 and s.suite = $2 and s.testbed_id = $3 and s.lane = 0 and s.implementation = $4 order by s.name, s.id limit $5`,
		project, q.Suite, h.Testbed, q.Implementation, MostHeatSeries+1)
	if len(list) > MostHeatSeries {
		list, h.More = list[:MostHeatSeries], true
	}
	for _, one := range list {
		h.Rows = append(h.Rows, HeatRow{Series: one, Values: make([]float32, len(h.Commits))})
	}
	return err
}

// fill sets the values of each commit. If a commit has several runs, the last one counts.
func (h *Heat) fill(ctx context.Context, tx pgx.Tx, project int64, reports map[int64]int) error {
	if len(h.Commits) == 0 || len(h.Rows) == 0 {
		return nil
	}
	from, to := h.Commits[0].At, h.Commits[len(h.Commits)-1].At
	rowOf, ids := map[int64]int{}, make([]int64, len(h.Rows))
	for i, r := range h.Rows {
		rowOf[r.Series.ID], ids[i] = i, r.Series.ID
	}
	last := map[[2]int]int64{}
	put := func(series int64, p pointcodec.Point) {
		column, shown := reports[p.Report]
		cell := [2]int{rowOf[series], column}
		if shown && p.Report >= last[cell] {
			last[cell], h.Rows[cell[0]].Values[column] = p.Report, p.Value
		}
	}
	return pointstore.Between(ctx, tx, project, ids, from, to, put)
}
