package store_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

func TestSeriesChanges_OrdersAndPages(t *testing.T) {
	s, url := opened(t)
	project, _ := history(t, s, "kernels", 1, 8)
	foreign, _ := history(t, s, "foreign", 1, 2)
	conn := owner(t, url)
	list, err := s.SeriesList(t.Context(), project, store.SeriesQuery{Lane: client.Main})
	if err != nil || len(list) != 8 {
		t.Fatal(len(list), err)
	}
	change := func(project, series int64, days int, after float64) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), `insert into pawl.event (project_id, series_id, kind, first_report, worse, from_sha, to_sha, since, at, before, after, p)
			values ($1, $2, 'step', $3, $4, 'a', 'b', $5, $5, 100, $6, 0)`, project, series, days, after > 100, noon.AddDate(0, 0, -days), after); err != nil {
			t.Fatal(err)
		}
	}
	change(project, list[1].ID, 2, 110)
	change(project, list[1].ID, 9, 150) // an older one of the same series
	change(project, list[3].ID, 1, 90)
	change(project, list[5].ID, 3, 130)
	change(project, list[6].ID, 100, 300) // too old
	for i, one := range list {
		if i == 7 {
			break // its noise is not known
		}
		if _, err := conn.Exec(t.Context(), `insert into pawl.trend_state (project_id, series_id, version, points, last_at, last, noise, two_speeds, state)
			values ($1, $2, 1, 40, $3, 12.5, $4, false, '')`, project, one.ID, noon, float32(i+1)/1000); err != nil {
			t.Fatal(err)
		}
	}
	since := noon.AddDate(0, 0, -30)
	all := func(project int64, q store.SeriesQuery, order store.SeriesOrder) (names []string, changed int) {
		t.Helper()
		for {
			part, n, err := s.SeriesChanges(t.Context(), project, q, order, since)
			if err != nil {
				t.Fatal(err)
			}
			changed = n
			for _, one := range part {
				names = append(names, strings.TrimPrefix(one.Name, "matmul/"))
			}
			if len(part) < q.Limit || q.Limit == 0 {
				return names, changed
			}
			q.After = part[len(part)-1].ID
		}
	}
	for _, c := range []struct {
		order store.SeriesOrder
		want  string
	}{
		{store.ByName, "N0 N1 N2 N3 N4 N5 N6 N7"},
		{store.ByNewest, "N3 N1 N5"},
		{store.ByWorst, "N5 N1 N3"},
		{store.ByNoise, "N6 N5 N4 N3 N2 N1 N0"},
	} {
		for _, limit := range []int{0, 1, 2, 3} {
			got, changed := all(project, store.SeriesQuery{Lane: client.Main, Limit: limit}, c.order)
			if diff := cmp.Diff(c.want, strings.Join(got, " ")); diff != "" || changed != 3 {
				t.Errorf("by %s, %d a page: %d changed, %s", c.order, limit, changed, diff)
			}
		}
	}
	if got, _ := all(project, store.SeriesQuery{Lane: client.Main, Name: "matmul/N1"}, store.ByNewest); !slices.Equal(got, []string{"N1"}) {
		t.Errorf("a name and an order: %v", got)
	}
	if got, changed := all(foreign, store.SeriesQuery{}, store.ByNewest); len(got) > 0 || changed != 0 {
		t.Errorf("another project sees %v, %d changed", got, changed)
	}
	part, _, err := s.SeriesChanges(t.Context(), project, store.SeriesQuery{Name: "matmul/N1", Lane: client.Main}, store.ByName, since)
	if err != nil || len(part) != 1 {
		t.Fatal(len(part), err)
	}
	e := part[0].Change
	if !e.Worse || e.Change < 0.0999 || e.Change > 0.1001 || !e.At.Equal(noon.Add(-48*time.Hour)) || e.Series != list[1].ID || e.State != client.EventNew || part[0].Noise < 0.0019 {
		t.Errorf("%+v", part[0])
	}
	if _, _, err := s.SeriesChanges(t.Context(), project, store.SeriesQuery{}, "size", since); err == nil {
		t.Error("an unknown order is accepted")
	}
}
