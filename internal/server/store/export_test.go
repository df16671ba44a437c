package store_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

type line struct {
	Kind   string          `json:"kind"`
	Series int64           `json:"series"`
	Data   json.RawMessage `json:"data"`
}

func exported(t testing.TB, s *store.Store, project int64) []line {
	t.Helper()
	var out bytes.Buffer
	if err := s.Export(t.Context(), project, &out); err != nil {
		t.Fatal(err)
	}
	var lines []line
	for scan := bufio.NewScanner(&out); scan.Scan(); {
		var l line
		if err := json.Unmarshal(scan.Bytes(), &l); err != nil {
			t.Fatalf("%s: %v", scan.Bytes(), err)
		}
		lines = append(lines, l)
	}
	return lines
}

func TestExportHasEverything(t *testing.T) {
	s, url := opened(t)
	project, _ := history(t, s, "kernels", 6, 3)
	if err := s.Audit(t.Context(), project, "mona", "key.create", map[string]string{"name": "ci"}); err != nil {
		t.Fatal(err)
	}
	history(t, s, "foreign", 1, 1)
	if _, err := s.Compact(t.Context(), pointstore.CompactOptions{Before: *reportNo(4, 1).Commit.At}); err != nil {
		t.Fatal(err)
	}
	if _, err := owner(t, url).Exec(t.Context(), `insert into pawl.event_group (project_id, from_sha, to_sha, at, worst, series, worse) values ($1, 'a', 'b', now(), 1, 1, 1)`, project); err != nil {
		t.Fatal(err)
	}
	if _, err := owner(t, url).Exec(t.Context(), `insert into pawl.event (project_id, series_id, kind, first_report, worse, from_sha, to_sha, since, at, before, after, p)
		select $1, id, 'step', 1, true, 'a', 'b', now(), now(), 1, 2, 0.001 from pawl.series where project_id = $1 and lane = 0`, project); err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	var order []string
	for _, l := range exported(t, s, project) {
		counts[l.Kind]++
		if len(order) == 0 || order[len(order)-1] != l.Kind {
			order = append(order, l.Kind)
		}
		if l.Kind == "point" {
			var p client.StoredPoint
			if err := json.Unmarshal(l.Data, &p); err != nil || p.Report == 0 || l.Series == 0 {
				t.Errorf("%s: %v", l.Data, err)
			}
		}
	}
	want := map[string]int{
		"project": 1, "testbed": int(ask(t, url, `select count(*) from pawl.testbed where project_id = $1`, project)),
		"commit": int(ask(t, url, `select count(*) from pawl.revision where project_id = $1`, project)),
		"series": 9, "run": 8, "point": 24, "group": 1, "event": 3, "audit": 1,
	}
	if diff := cmp.Diff(want, counts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"project", "testbed", "commit", "series", "run", "point", "group", "event", "audit"}, order); diff != "" {
		t.Error(diff)
	}
	if err := s.Export(t.Context(), 999, &bytes.Buffer{}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a project that is not there: %v", err)
	}
}

// Long series are exported in portions; hot points and tiles lie mixed.
func TestExportOfLongSeries(t *testing.T) {
	s, url := opened(t)
	project := projectNamed(t, s, "kernels")
	list := seriesRows(t, url, project, 3)
	from := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	points := somePoints(from, 7200, 1) // ten months, more tiles and more hot rows than one portion has
	var even, odd []pointcodec.Point
	for i, p := range points {
		if i%8 < 6 {
			even = append(even, p)
		} else {
			odd = append(odd, p)
		}
	}
	hot(t, url, project, list[1], even)
	hot(t, url, project, list[0], odd[:3])
	if _, err := s.Compact(t.Context(), pointstore.CompactOptions{Before: noon}); err != nil {
		t.Fatal(err)
	}
	hot(t, url, project, list[1], odd)
	hot(t, url, project, list[2], even) // all of it hot
	got := map[int64][]int64{}
	for _, l := range exported(t, s, project) {
		if l.Kind == "point" {
			var p client.StoredPoint
			if err := json.Unmarshal(l.Data, &p); err != nil {
				t.Fatal(err)
			}
			got[l.Series] = append(got[l.Series], p.Report)
		}
	}
	want := map[int64][]int64{list[0]: reports(odd[:3]), list[1]: reports(points), list[2]: reports(even)}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), list); diff != "" {
		t.Error(diff)
	}
}

// seriesRows makes series without points.
func seriesRows(t testing.TB, url string, project int64, n int) (ids []int64) {
	t.Helper()
	conn := owner(t, url)
	var bed int64
	if err := conn.QueryRow(t.Context(), `insert into pawl.testbed (project_id, key, facts) values ($1, 'bed', '{}') returning id`, project).Scan(&bed); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		var id int64
		err := conn.QueryRow(t.Context(), `insert into pawl.series (project_id, suite, name, benchmark, implementation, testbed_id, lane, unit)
			values ($1, 'kernels', 'case' || $2::int, 'case', 'candidate', $3, 0, 'ns') returning id`, project, i, bed).Scan(&id)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}
