package store_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

func TestHeat(t *testing.T) {
	s, _ := opened(t)
	project, receipts := history(t, s, "kernels", 8, 3)
	again := reportNo(6, 2) // the same commit once more, without the last case
	again.Run = "01AGAIN"
	again.Points[0].Value = 4711
	ingest(t, s, project, again, client.Main)
	want := func(columns ...int) [][]float32 {
		rows := make([][]float32, 3)
		for i := range rows {
			for _, n := range columns {
				rows[i] = append(rows[i], float32(reportNo(n, 3).Points[i].Value))
			}
		}
		return rows
	}
	check := func(where string) {
		t.Helper()
		h, err := s.Heat(t.Context(), project, store.HeatQuery{Suite: "kernels", Commits: 5})
		if err != nil {
			t.Fatal(err)
		}
		var shas []string
		for _, c := range h.Commits {
			shas = append(shas, c.Commit)
			if c.Title != "make it fast" {
				t.Errorf("%s: %+v", where, c)
			}
		}
		if diff := cmp.Diff([]string{sha(3), sha(4), sha(5), sha(6), sha(7)}, shas); diff != "" {
			t.Errorf("%s: %s", where, diff)
		}
		values := want(3, 4, 5, 6, 7)
		values[0][3] = 4711
		for i, r := range h.Rows {
			if r.Series.Name != fmt.Sprintf("matmul/N%d", i) {
				t.Errorf("%s: row %d is %s", where, i, r.Series.Name)
			}
			if diff := cmp.Diff(values[i], r.Values); diff != "" {
				t.Errorf("%s, row %d: %s", where, i, diff)
			}
		}
		if len(h.Rows) != 3 || h.More || h.Commits[4].Run != receipts[7].Report {
			t.Errorf("%s: %+v", where, h)
		}
	}
	check("hot")
	if _, err := s.Compact(t.Context(), pointstore.CompactOptions{Before: *reportNo(5, 1).Commit.At}); err != nil {
		t.Fatal(err)
	}
	check("across")
	if _, err := s.Heat(t.Context(), project, store.HeatQuery{Suite: "cooking"}); err == nil {
		t.Error("a suite that is not there has a heat map")
	}
	other, err := s.Heat(t.Context(), project, store.HeatQuery{Suite: "kernels", Implementation: "sdpa"})
	if err != nil || len(other.Rows) != 0 || len(other.Commits) != 8 {
		t.Errorf("another implementation: %+v, %v", other, err)
	}
}

func TestOverview(t *testing.T) {
	s, url := opened(t)
	project, _ := history(t, s, "kernels", 3, 2)
	series, err := s.SeriesList(t.Context(), project, store.SeriesQuery{Lane: client.Main})
	if err != nil {
		t.Fatal(err)
	}
	conn := owner(t, url)
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	week := noon.AddDate(0, 0, -7)
	for i, g := range []struct {
		at      time.Time
		worst   float64
		machine int64
	}{{noon.AddDate(0, 0, -1), 0.05, 0}, {noon.AddDate(0, 0, -2), 0.5, 3}, {noon.AddDate(0, 0, -9), 9, 0}, {noon.AddDate(0, 0, -3), -0.2, 0}} {
		exec(`insert into pawl.event_group (project_id, from_sha, to_sha, at, worst, series, worse, machine) values ($1, 'a', 'b', $2, $3, 2, 1, $4)`, project, g.at, g.worst, g.machine)
		for j, one := range series {
			exec(`insert into pawl.event (project_id, series_id, kind, first_report, worse, from_sha, to_sha, since, at, before, after, p, state, group_id, detected)
				select $1, $2, 'step', $3, $4, 'a', 'b', $5, $5, 100, $6, 0.001, $7, max(id), $5 from pawl.event_group`,
				project, one.ID, i, g.worst > 0, g.at, 100*(1+g.worst/float64(2-j)), map[bool]string{true: "new", false: "fixed"}[j == 0])
		}
	}
	o, err := s.Overview(t.Context(), project, week, true)
	if err != nil {
		t.Fatal(err)
	}
	var worst []string
	for _, g := range o.Groups {
		worst = append(worst, fmt.Sprintf("%.2f %v", g.Worst, g.Machine))
		if len(g.Events) != 2 || g.Events[0].Series != series[1].ID || g.Events[0].Group != g.ID || g.Events[0].Machine != g.Machine || g.Events[0].Owners[0] != "@octo/kernels" {
			t.Errorf("group %d: %+v", g.ID, g.Events)
		}
	}
	if diff := cmp.Diff([]string{"0.50 true", "0.05 false", "-0.20 false"}, worst); diff != "" {
		t.Error(diff)
	}
	if o.Moved != (store.ChangeCounts{Worse: 4, Better: 2, Machine: 1}) || o.Open != 4 || o.Series != 6 || o.Runs != 5 || len(o.Latest) != 5 || len(o.Testbeds) == 0 {
		t.Errorf("%+v", o)
	}
	if o.Latest[0].Lane != client.Fork {
		t.Errorf("the latest run is %+v", o.Latest[0])
	}
	if o, err := s.Overview(t.Context(), project, week, false); err != nil || len(o.Latest) == 0 || slices.ContainsFunc(o.Latest, func(r client.Run) bool { return r.Lane == client.Fork }) {
		t.Errorf("without forks: %+v, %v", o.Latest, err)
	}
	foreign, err := s.Overview(t.Context(), projectNamed(t, s, "foreign"), week, false)
	if err != nil || foreign.Open+foreign.Series+foreign.Runs+len(foreign.Groups) != 0 {
		t.Errorf("a project without anything: %+v, %v", foreign, err)
	}
}
