package server

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/store"
)

// labPages are all pages of a server but those of a fleet and of a run that is under way, and some more views of
// those that ask much.
var labPages = []struct{ name, path string }{
	{"projects", "/"},
	{"overview, 100,000 series", "/p/lab"},
	{"series, 10,000 hot points", "/p/lab/series/1"},
	{"series, 66 points", "/p/lab/series/2"},
	{"list of series", "/p/lab/series"},
	{"list of series, newest change first", "/p/lab/series?order=newest&days=365"},
	{"list of series, worst change first", "/p/lab/series?order=worst&days=365"},
	{"list of series, noisiest first", "/p/lab/series?order=noise"},
	{"list of series with a text", "/p/lab/series?text=suite77+S15"},
	{"8 series in one chart", "/p/lab/chart?days=0&series=1,2,3,4,5,6,7,8"},
	{"two points compared", "/p/lab/compare?a=1.5000&b=1.10000"},
	{"two runs compared", "/p/lab/compare?a=run-4950&b=run-9900"},
	{"two commits compared", "/p/lab/compare?a=" + labSHA(4950) + "&b=" + labSHA(9900)},
	{"runs", "/p/lab/runs"},
	{"run", "/p/lab/runs/9900"},
	{"testbed", "/p/lab/testbeds/1"},
	{"suite, 200 cases and 50 commits", "/p/lab/suites/suite0"},
	{"events", "/p/lab/events"},
	{"cause of 40 series", "/p/lab/groups/1"},
	{"settings", "/p/lab/settings"},
	{"limits", "/p/lab/limits"},
	{"search", "/search?q=suite77+S15"},
	{"login", "/login"},
}

func labSHA(n int) string { return fmt.Sprintf("%040x", n) }

// TestLabPages measures what a visitor waits for: pages over HTTP of a project with 100,000 series, one of which has
// 10,000 hot points, on a PostgreSQL with fsync on. The visitor is an admin of the project, who is shown the most.
//
//	PAWL_LAB=FOLDER go test ./internal/server -run LabPages -v
func TestLabPages(t *testing.T) {
	if os.Getenv("PAWL_LAB") == "" {
		t.Skip("a lab: set PAWL_LAB")
	}
	l := newHTTPLab(t)
	l.furnish()
	at := strings.TrimSuffix(l.url, "/v1/projects/lab/reports")
	out := labTable(t, "server-pages")
	out("| page | p50 ms | p95 ms | ms of CPU: server | of PostgreSQL | kB sent | kB of HTML |\n| --- | --- | --- | --- | --- | --- | --- |\n")
	const times = 100
	slow, large := 0, 0
	for _, page := range labPages {
		var took []time.Duration
		var sent, size int
		pg, own := treeCPU(t, l.pg), ownCPU()
		for range times {
			begun := time.Now()
			sent, size = l.fetch(at + page.path)
			took = append(took, time.Since(begun))
		}
		slices.Sort(took)
		ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
		p95 := ms(took[times*95/100])
		if p95 > 150 {
			slow++
		}
		if sent > 200_000 {
			large++
		}
		out("| %s | %.1f | %.1f | %.1f | %.1f | %d | %d |\n", page.name, ms(took[times/2]), p95, ms(ownCPU()-own)/times, ms(treeCPU(t, l.pg)-pg)/times, (sent+999)/1000, (size+999)/1000)
	}
	out("\nOf %d pages, %d take more than 150 ms at the 95th percentile of %d requests, and %d are sent as more than 200 kB.\n", len(labPages), slow, times, large)
}

// fetch returns the size of a page as it is sent, and of its HTML.
func (l *httpLab) fetch(url string) (sent, size int) {
	l.t.Helper()
	r, err := http.NewRequestWithContext(l.t.Context(), http.MethodGet, url, http.NoBody)
	if err != nil {
		l.t.Fatal(err)
	}
	r.Header.Set("Accept-Encoding", "gzip")
	r.Header.Set("Authorization", "Bearer "+l.key)
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		l.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		l.t.Fatalf("%s: %d %v", url, resp.StatusCode, err)
	}
	if resp.Header.Get("Content-Encoding") != "gzip" {
		return len(body), len(body)
	}
	z, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		l.t.Fatal(err)
	}
	n, err := io.Copy(io.Discard, z)
	if err != nil {
		l.t.Fatal(err)
	}
	return len(body), int(n)
}

// furnish writes past the front door what would take many reports to send.
func (l *httpLab) furnish() {
	l.t.Helper()
	ctx := l.t.Context()
	conn, err := pgx.Connect(ctx, l.pg.URL("postgres"))
	if err != nil {
		l.t.Fatal(err)
	}
	defer conn.Close(ctx)
	first := labAt(0).Format(time.RFC3339)
	for _, sql := range []string{
		`update pawl.project set public = true`,
		`insert into pawl.testbed (project_id, key, facts) values (1, 'bed', '{"kind": "nvidia", "device": "NVIDIA L4"}')`,
		`insert into pawl.series (project_id, suite, name, benchmark, config, implementation, testbed_id, lane, unit)
			select 1, 'suite' || s, 'attention/B32_H8_S' || n, 'attention', 'B32_H8_S' || n, 'candidate', 1, 0, 'ns' from generate_series(0, 499) s, generate_series(0, 199) n order by s, n`,
		`insert into pawl.report (project_id, id, run, suite, measured, at, sha, lane, trust, testbed_id, health, points, series) overriding system value
			select 1, n, '01LAB' || lpad(n::text, 21, '0'), 'suite0', at, at, lpad(to_hex(n), 40, '0'), 0, 1, 1, '{}', 1, '\x01'
			from generate_series(1, 10000) n, lateral (select timestamptz '` + first + `' + n * interval '8 minutes' as at) t`,
		`insert into pawl.revision (project_id, sha, at, author, title) select 1, sha, at, 'mona', 'attention: keep K in registers, part ' || id from pawl.report`,
		`select pawl.make_partition(m::date) from generate_series(date_trunc('month', timestamptz '` + first + `'), now(), interval '1 month') m`,
		`insert into pawl.point select 1, 1, at, id, v, v - 1, v + 1, 0.004, 1000, 8, 8 from (select at, id, (1000 + 20 * random())::real as v from pawl.report) r`,
		// Series with a history, so that the lists have something to draw: the first by name, and those that changed.
		`insert into pawl.point select 1, s, at, id, v, v - 1, v + 1, 0.004, 1000, 8, 8
			from generate_series(2, 4000) s, lateral (select at, id, (1000 + 20 * random())::real as v from pawl.report where id % 150 = 0) r`,
		`insert into pawl.trend_state (project_id, series_id, version, points, last_at, last, noise, two_speeds, state)
			select 1, id, 1, 66, now(), 1000, 0.001 + 0.05 * random(), false, decode(repeat(md5(id::text), 25), 'hex') from pawl.series`,
		`insert into pawl.event_group (project_id, from_sha, to_sha, at, worst, series, worse)
			select 1, 'a', 'b', now() - n * interval '1 hour', random(), 40, 40 from generate_series(1, 500) n`,
		`insert into pawl.event (project_id, series_id, kind, first_report, worse, from_sha, to_sha, since, at, before, after, p, group_id, state)
			select 1, s, 'step', g.id, true, 'a', 'b', g.at, g.at, 100, 100 + random() * 20, 0.0001, g.id, case when random() < 0.3 then 'new' else 'fixed' end
			from pawl.event_group g, lateral (select g.id * 7 + n as s from generate_series(1, 40) n) t`,
		`vacuum analyze`,
	} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			l.t.Fatal(fmt.Errorf("%s: %w", sql, err))
		}
	}
	s, err := store.Open(ctx, store.Config{URL: l.pg.URL("postgres")}, nil)
	if err != nil {
		l.t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.IndexWords(ctx); err != nil {
		l.t.Fatal(err)
	}
}
