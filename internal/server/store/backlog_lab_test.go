package store_test

import (
	"os"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fsck"
)

// TestLabBacklog measures a scan and a check of many reports of few series, on a PostgreSQL with fsync on and without
// statistics, as after a crash:
//
//	PAWL_LAB=FOLDER go test ./internal/server/store -run LabBacklog -v
//
// The table is written to server-backlog.md of the folder PAWL_LAB too.
func TestLabBacklog(t *testing.T) {
	if os.Getenv("PAWL_LAB") == "" {
		t.Skip("a lab: set PAWL_LAB")
	}
	out := labTable(t, "server-backlog")
	out("| reports to scan | series | scan | of it a point | a scan of one more report | fsck | fsck of the events |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, c := range []struct{ reports, series int }{{20_000, 1}, {82_597, 5}} {
		s, url := backlogged(t, c.reports, c.series)
		project := ask(t, url, `select max(id) from pawl.project`)
		scan := timed(t, func() error { _, err := alert.Scan(t.Context(), s, project); return err })
		ask(t, url, `with m as (insert into pawl.dirty select project_id, max(id) from pawl.report group by 1 returning 1) select count(*) from m`)
		again := timed(t, func() error { _, err := alert.Scan(t.Context(), s, project); return err })
		check := timed(t, func() error {
			problems, err := fsck.Run(t.Context(), s, fsck.Options{})
			for _, p := range problems {
				t.Error(p)
			}
			return err
		})
		events := timed(t, func() error {
			list, err := s.SeriesList(t.Context(), project, store.SeriesQuery{Lane: client.Main})
			var ids []int64
			for _, one := range list {
				ids = append(ids, one.ID)
			}
			if err == nil {
				var wrong []alert.Mismatch
				wrong, err = alert.Check(t.Context(), s, project, ids)
				for _, m := range wrong {
					t.Errorf("%+v", m)
				}
			}
			return err
		})
		n := ask(t, url, `select count(*) from pawl.point`)
		out("| %d | %d | %.1f s | %.1f µs | %.2f s | %.1f s | %.1f s |\n", c.reports, c.series, scan.Seconds(), float64(scan.Microseconds())/float64(n), again.Seconds(), check.Seconds(), events.Seconds())
	}
}

func timed(t *testing.T, do func() error) time.Duration {
	t.Helper()
	began := time.Now()
	if err := do(); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}

// backlogged returns a store with reports that were not scanned, a minute apart. Their series change level every 500
// points.
func backlogged(t *testing.T, reports, series int) (*store.Store, string) {
	t.Helper()
	s, pg := labStore(t, t.TempDir(), "autovacuum=off")
	url := pg.URL("postgres")
	b := bulk{conn: owner(t, url), project: projectNamed(t, s, "lab")}
	ids := seriesRows(t, url, b.project, series)
	b.exec(t, `select pawl.make_partition(m::date) from generate_series(date '2026-05-01', date '2026-10-01', interval '1 month') m`)
	b.exec(t, `insert into pawl.report (project_id, id, run, suite, measured, at, sha, lane, trust, testbed_id, health, points, series) overriding system value
		select $1, n, '01LAB' || lpad(n::text, 21, '0'), 'kernels', at, at, lpad(to_hex(n), 40, '0'), 0, 1, (select max(id) from pawl.testbed), '{}', $3, $4
		from generate_series(1, $2::int) n, lateral (select timestamptz '2026-06-01 00:00Z' + n * interval '1 minute' as at) t`,
		b.project, reports, series, pointcodec.PackIDs(ids))
	b.exec(t, `insert into pawl.receipt select project_id, sha256(run::bytea), sha256(run::bytea), id from pawl.report`)
	b.exec(t, `insert into pawl.point select r.project_id, s, r.at, r.id, v, v - 1, v + 1, 0.004, 1000, 8, 8
		from pawl.report r, unnest($1::bigint[]) s, lateral (select (1000 + 100 * (r.id / 500 % 2) + 10 * random())::real as v) t`, ids)
	b.exec(t, `insert into pawl.dirty select project_id, id, received from pawl.report`)
	return s, url
}
