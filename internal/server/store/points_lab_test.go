package store_test

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/pgtemp"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec/pointcodectest"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/migrations"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// bulk is a database filled past the front door: tiles are written as compaction would
// have left them.
type bulk struct {
	conn           *pgx.Conn
	project        int64
	suites, series int // series of a suite
	points, hot    int // points of a series, the last of which are hot
}

// Every series of a suite is measured by the same runs.
func (b bulk) load(t testing.TB) {
	t.Helper()
	b.exec(t, `insert into pawl.testbed (project_id, key, facts) values ($1, 'bed', '{}')`, b.project)
	b.exec(t, `insert into pawl.series (project_id, suite, name, benchmark, config, implementation, testbed_id, lane, unit)
		select $1, 'suite' || s, 'attention/B32_H8_S' || n, 'attention', 'B32_H8_S' || n, 'candidate', (select min(id) from pawl.testbed where project_id = $1), 0, 'ns'
		from generate_series(0, $2::int - 1) s, generate_series(0, $3::int - 1) n order by s, n`, b.project, b.suites, b.series)
	first := ask1(t, b.conn, `select min(id) from pawl.series where project_id = $1`, b.project)
	for suite := range b.suites {
		runs := pointcodectest.History(b.points, uint64(suite))
		for i := range runs {
			runs[i].Report = int64(suite*b.points + i + 1)
		}
		ids := make([]int64, b.series)
		for i := range ids {
			ids[i] = first + int64(suite*b.series+i)
		}
		b.loadRuns(t, suite, runs, ids)
		b.loadPoints(t, runs, ids)
	}
	b.exec(t, `vacuum analyze`)
}

func (b bulk) exec(t testing.TB, sql string, args ...any) {
	t.Helper()
	if _, err := b.conn.Exec(t.Context(), sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}

func ask1(t testing.TB, conn *pgx.Conn, sql string, args ...any) (n int64) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return n
}

func (b bulk) copy(t testing.TB, table string, columns []string, rows [][]any) {
	t.Helper()
	if _, err := b.conn.CopyFrom(t.Context(), pgx.Identifier{"pawl", table}, columns, pgx.CopyFromRows(rows)); err != nil {
		t.Fatal(err)
	}
}

func (b bulk) loadRuns(t testing.TB, suite int, runs []pointcodec.Point, ids []int64) {
	t.Helper()
	var packed []byte
	last := int64(0)
	for _, id := range ids {
		packed = binary.AppendUvarint(packed, uint64(id-last))
		last = id
	}
	bed := ask1(t, b.conn, `select min(id) from pawl.testbed where project_id = $1`, b.project)
	var rows [][]any
	for _, r := range runs {
		rows = append(rows, []any{
			b.project, r.Report, fmt.Sprintf("01LAB%021d", r.Report), "suite" + strconv.Itoa(suite), r.Time(), r.Time(), r.Time(),
			fmt.Sprintf("%040x", r.Report), int16(0), int16(1), bed, "{}", len(ids), packed,
		})
	}
	b.copy(t, "report", []string{"project_id", "id", "run", "suite", "measured", "received", "at", "sha", "lane", "trust", "testbed_id", "health", "points", "series"}, rows)
}

func (b bulk) loadPoints(t testing.TB, runs []pointcodec.Point, ids []int64) {
	t.Helper()
	cold := b.points - b.hot
	var tiles, points [][]any
	for _, id := range ids {
		list := pointcodectest.History(b.points, uint64(id)<<20)
		for i := range list {
			list[i].At, list[i].Report = runs[i].At, runs[i].Report
		}
		for part := range slices.Chunk(list[:cold], pointcodec.MaxPoints) {
			data, err := pointcodec.Encode(part)
			if err != nil {
				t.Fatal(err)
			}
			tiles = append(tiles, []any{b.project, id, part[0].Time(), part[0].Report, part[len(part)-1].Time(), int16(len(part)), int16(pointcodec.Version), int64(pointcodec.Sum(data)), data})
		}
		for _, p := range list[cold:] {
			points = append(points, []any{b.project, id, p.Time(), p.Report, p.Value, p.Low, p.High, p.Spread, p.Baseline, p.Rounds, int16(p.Flags)})
		}
	}
	b.copy(t, "tile", []string{"project_id", "series_id", "first_at", "first_report", "last_at", "n", "version", "crc", "data"}, tiles)
	if len(points) > 0 {
		b.exec(t, `select pawl.make_partition(m::date) from generate_series(date_trunc('month', $1::timestamptz), $2::timestamptz, interval '1 month') m`, runs[cold].Time(), runs[len(runs)-1].Time())
		b.copy(t, "point", []string{"project_id", "series_id", "at", "report_id", "value", "low", "high", "spread", "baseline", "rounds", "flags"}, points)
	}
}

// events puts groups of events of the last week and many of before.
func (b bulk) events(t testing.TB, groups, each int) {
	t.Helper()
	b.exec(t, `insert into pawl.event_group (project_id, from_sha, to_sha, at, worst, series, worse)
		select $1, 'a', 'b', now() - (n || ' hours')::interval, random(), $3::int, $3::int from generate_series(1, $2::int) n`, b.project, groups, each)
	b.exec(t, `insert into pawl.event (project_id, series_id, kind, first_report, worse, from_sha, to_sha, since, at, before, after, p, group_id, state)
		select $1, s.id, 'step', g.id, true, 'a', 'b', g.at, g.at, 100, 100 + random() * 20, 0.0001, g.id, case when random() < 0.3 then 'new' else 'fixed' end
		from pawl.event_group g, lateral (select id from pawl.series where project_id = $1 and id >= 1 + g.id * 7 order by id limit $2) s`, b.project, each)
	b.exec(t, `analyze`)
}

func (b bulk) bytesAPoint(t testing.TB) float64 {
	t.Helper()
	n := ask1(t, b.conn, `select sum(n) from pawl.tile`)
	return float64(ask1(t, b.conn, `select pg_total_relation_size('pawl.tile')`)) / float64(n)
}

// A point in tiles takes at most 25 bytes with all that the database adds.
func TestTilesTakeFewBytes(t *testing.T) {
	s, url := opened(t)
	b := bulk{conn: owner(t, url), project: projectNamed(t, s, "bulk"), suites: 1, series: 40, points: 1024}
	b.load(t)
	each := b.bytesAPoint(t)
	t.Logf("%.1f bytes a point", each)
	if each > 25 {
		t.Errorf("a point takes %.1f bytes", each)
	}
	series, err := s.SeriesList(t.Context(), b.project, store.SeriesQuery{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	points, err := s.Points(t.Context(), b.project, series[0].ID, pointstore.Range{Last: 1000})
	if err != nil || len(points) != 1000 || points[999].Commit == "" {
		t.Errorf("%d points of what was loaded: %v", len(points), err)
	}
}

// TestLabPoints measures sizes and reads of a large database with fsync on:
//
//	PAWL_LAB=FOLDER [PAWL_LAB_POINTS=100000000] [PAWL_LAB_EACH=1020] [PAWL_LAB_DIR=/big/disk] go test ./internal/server/store -run LabPoints -v -timeout 3h
//
// Few points in each make many series: 10 million with 100 each are 100,000 series. The
// tables are written to server-points-EACH.md of the folder PAWL_LAB too.
func TestLabPoints(t *testing.T) {
	if os.Getenv("PAWL_LAB") == "" {
		t.Skip("a lab: set PAWL_LAB")
	}
	number := func(name string, otherwise int) int {
		if n, err := strconv.Atoi(os.Getenv(name)); err == nil && n > 0 {
			return n
		}
		return otherwise
	}
	total, each := number("PAWL_LAB_POINTS", 10_000_000), number("PAWL_LAB_EACH", 1020)
	dir, err := os.MkdirTemp(os.Getenv("PAWL_LAB_DIR"), "pawl-lab") //nolint:usetesting // where there is room for it
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	s, pg := labStore(t, dir, "checkpoint_timeout=15min")
	url := pg.URL("postgres")
	// The last twenty points of a series are hot; 200 series make a suite.
	const ofSuite = 200
	b := bulk{conn: owner(t, url), project: projectNamed(t, s, "lab"), suites: max(1, total/each/ofSuite), series: ofSuite, points: each, hot: min(20, each/5)}
	began := time.Now()
	b.load(t)
	b.events(t, 500, 40)
	loaded := time.Since(began)
	if _, err := s.IndexWords(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.exec(t, `vacuum analyze`)

	count := b.suites * b.series
	out := labTable(t, "server-points-"+strconv.Itoa(each))
	out("| what | figure |\n| --- | --- |\n| points | %d in %d series, %d runs; %d hot |\n| loaded | %.0f s |\n", count*each, count, b.suites*each, count*b.hot, loaded.Seconds())
	out("| a point in tiles | %.1f B with index and overhead |\n", b.bytesAPoint(t))
	hotSize := ask1(t, b.conn, `select sum(pg_total_relation_size(inhrelid)) from pg_inherits where inhparent = 'pawl.point'::regclass`)
	out("| a hot point | %.0f B |\n| database | %.2f GB |\n", float64(hotSize)/float64(count*b.hot), float64(ask1(t, b.conn, `select pg_database_size(current_database())`))/1e9)
	b.reads(t, s, out)

	began = time.Now()
	done, err := s.Compact(t.Context(), pointstore.CompactOptions{Before: time.Now().AddDate(10, 0, 0)})
	if err != nil || done.Points != count*b.hot {
		t.Fatalf("compacted %+v: %v", done, err)
	}
	took := time.Since(began)
	out("\n| kept in order | figure |\n| --- | --- |\n| compaction | %.0f points/s, %.0f tiles/s |\n", float64(done.Points)/took.Seconds(), float64(done.Tiles)/took.Seconds())
}

// reads times what pages ask for, each of another series.
func (b bulk) reads(t testing.TB, s *store.Store, out func(format string, args ...any)) {
	t.Helper()
	ctx, rng := t.Context(), rand.New(rand.NewPCG(1, 2))
	first := ask1(t, b.conn, `select min(id) from pawl.series where project_id = $1`, b.project)
	anySeries := func() int64 { return first + rng.Int64N(int64(b.suites*b.series)) }
	anySuite := func() string { return "suite" + strconv.Itoa(rng.IntN(b.suites)) }
	out("\n| read | p50 | p95 | p99 | target p95 |\n| --- | --- | --- | --- | --- |\n")
	for _, c := range []struct {
		name, target string
		times        int
		one          func() error
	}{
		{"last 1,000 points of a series", "5 ms", 1000, func() error {
			points, err := s.Points(ctx, b.project, anySeries(), pointstore.Range{Last: 1000})
			if err == nil && len(points) != min(1000, b.points) {
				err = fmt.Errorf("%d points", len(points))
			}
			return err
		}},
		{"all points of a series, without commits", "", 1000, func() error {
			_, err := allPoints(ctx, s, b.project, []int64{anySeries()})
			return err
		}},
		{"all points of 200 series", "", 20, func() error {
			from := first + int64(b.series)*rng.Int64N(int64(b.suites))
			ids := make([]int64, b.series)
			for i := range ids {
				ids[i] = from + int64(i)
			}
			_, err := allPoints(ctx, s, b.project, ids)
			return err
		}},
		{"overview of a week", "300 ms", 200, func() error {
			o, err := s.Overview(ctx, b.project, time.Now().AddDate(0, 0, -7), false)
			if err == nil && len(o.Groups) == 0 {
				err = fmt.Errorf("an empty overview")
			}
			return err
		}},
		{"heat map, 200 configs x 50 commits", "", 50, func() error {
			_, err := s.Heat(ctx, b.project, store.HeatQuery{Suite: anySuite()})
			return err
		}},
		{"a run with its 200 points", "", 100, func() error {
			_, err := s.RunSeries(ctx, b.project, 1+rng.Int64N(int64(b.suites*b.points)))
			return err
		}},
		{"series by text", "", 50, func() error {
			_, err := s.SeriesList(ctx, b.project, store.SeriesQuery{Text: "S" + strconv.Itoa(rng.IntN(b.series)) + " " + anySuite(), Limit: 20})
			return err
		}},
		{"a page of series", "", 200, func() error {
			_, err := s.SeriesList(ctx, b.project, store.SeriesQuery{After: anySeries(), Limit: 100})
			return err
		}},
		{"search everywhere", "", 20, func() error {
			_, err := s.Search(ctx, 0, true, "attention "+anySuite())
			return err
		}},
	} {
		var took []time.Duration
		for range c.times {
			began := time.Now()
			if err := c.one(); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			took = append(took, time.Since(began))
		}
		slices.Sort(took)
		at := func(share float64) float64 { return took[int(share*float64(len(took)-1))].Seconds() * 1e3 }
		out("| %s | %.1f ms | %.1f ms | %.1f ms | %s |\n", c.name, at(0.5), at(0.95), at(0.99), c.target)
	}
}

// labStore starts a PostgreSQL with fsync on in a folder, and a store on it.
func labStore(t *testing.T, dir string, settings ...string) (*store.Store, *pgtemp.Server) {
	t.Helper()
	pg, err := pgtemp.Start(t.Context(), pgtemp.Options{Dir: dir, Durable: true, Settings: append([]string{"shared_buffers=1GB", "max_wal_size=8GB"}, settings...)})
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = pg.Stop(context.WithoutCancel(t.Context()), true) })
	url := pg.URL("postgres")
	if _, err := migrations.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), store.Config{URL: url}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, pg
}

// labTable gives a way to write a table, to people and to the folder of the lab.
func labTable(t *testing.T, name string) func(format string, args ...any) {
	t.Helper()
	var text strings.Builder
	return func(format string, args ...any) {
		fmt.Printf(format, args...)
		fmt.Fprintf(&text, format, args...)
		dir := os.Getenv("PAWL_LAB")
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return
		}
		if err := os.WriteFile(filepath.Join(dir, name+".md"), []byte(text.String()), 0o644); err != nil {
			t.Error(err)
		}
	}
}

func BenchmarkPoints(b *testing.B) {
	s, url := opened(b)
	l := bulk{conn: owner(b, url), project: projectNamed(b, s, "bulk"), suites: 1, series: 50, points: 1020, hot: 20}
	l.load(b)
	first := ask1(b, l.conn, `select min(id) from pawl.series`)
	n := int64(0)
	for b.Loop() {
		n++
		if _, err := s.Points(b.Context(), l.project, first+n%50, pointstore.Range{Last: 1000}); err != nil {
			b.Fatal(err)
		}
	}
}
