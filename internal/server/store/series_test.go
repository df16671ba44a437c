package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

func TestSeriesList(t *testing.T) {
	s, url := opened(t)
	project, _ := history(t, s, "kernels", 1, 12)
	other := reportNo(50, 1)
	other.Suite, other.Points[0].Benchmark, other.Points[0].Config = "blas_tests", "axpy%x", "F16"
	ingest(t, s, project, other, client.Main)
	foreign, _ := history(t, s, "foreign", 1, 2)

	names := func(q store.SeriesQuery) (list []string) {
		t.Helper()
		series, err := s.SeriesList(t.Context(), project, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range series {
			list = append(list, one.Name+" "+string(one.Lane))
		}
		return list
	}
	if n := len(names(store.SeriesQuery{})); n != 3*12+1 {
		t.Errorf("%d series", n)
	}
	// Page by page it is the same list.
	var paged []string
	for q := (store.SeriesQuery{Limit: 5}); ; {
		part, err := s.SeriesList(t.Context(), project, q)
		if err != nil {
			t.Fatal(err)
		}
		if len(part) == 0 {
			break
		}
		for _, one := range part {
			paged = append(paged, one.Name+" "+string(one.Lane))
		}
		q.After = part[len(part)-1].ID
	}
	if diff := cmp.Diff(names(store.SeriesQuery{}), paged); diff != "" {
		t.Error(diff)
	}
	for name, c := range map[string]struct {
		q    store.SeriesQuery
		want string
	}{
		"by suite":           {store.SeriesQuery{Suite: "blas_tests"}, "axpy%x/F16 main"},
		"a word":             {store.SeriesQuery{Text: "AXPY"}, "axpy%x/F16 main"},
		"two words":          {store.SeriesQuery{Text: "blas f16"}, "axpy%x/F16 main"},
		"words that differ":  {store.SeriesQuery{Text: "softmax f16"}, ""},
		"a percent divides":  {store.SeriesQuery{Text: "axpy%x"}, "axpy%x/F16 main"},
		"an underline, too":  {store.SeriesQuery{Text: "blas_t"}, "axpy%x/F16 main"},
		"of a lane":          {store.SeriesQuery{Text: "N11", Lane: client.Fork}, "matmul/N11 fork"},
		"of another testbed": {store.SeriesQuery{Testbed: 999}, ""},
	} {
		if got := strings.Join(names(c.q), ", "); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	suites, err := s.Suites(t.Context(), project)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"blas_tests", "kernels"}, suites); diff != "" {
		t.Error(diff)
	}

	// What another project has is not there.
	theirs, err := s.SeriesList(t.Context(), foreign, store.SeriesQuery{Limit: 1})
	if err != nil || len(theirs) != 1 {
		t.Fatalf("%v, %v", theirs, err)
	}
	if _, err := s.SeriesByID(t.Context(), project, theirs[0].ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a series of another project: %v", err)
	}
	if points, err := s.Points(t.Context(), project, theirs[0].ID, pointstore.Range{}); err != nil || len(points) > 0 {
		t.Errorf("points of another project: %v, %v", points, err)
	}

	// What was found in a series is told with it.
	if _, err := owner(t, url).Exec(t.Context(), `insert into pawl.trend_state (project_id, series_id, version, points, last_at, last, noise, two_speeds, state)
		values ($1, $2, 1, 40, $3, 12.5, 0.25, true, '')`, foreign, theirs[0].ID, noon); err != nil {
		t.Fatal(err)
	}
	one, err := s.SeriesByID(t.Context(), foreign, theirs[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	if one.Points != 40 || one.Last != 12.5 || !one.LastAt.Equal(noon) || one.Noise != 0.25 || !one.TwoSpeeds || one.Path != "kernels/matmul.cu" || len(one.Owners) != 1 {
		t.Errorf("%+v", one)
	}
}

func TestSearch(t *testing.T) {
	s, _ := opened(t)
	history(t, s, "kernels", 2, 2)
	public, err := s.ProjectByID(t.Context(), projectNamed(t, s, "open"))
	if err != nil {
		t.Fatal(err)
	}
	public.Public = true
	if err := s.UpdateProject(t.Context(), public); err != nil {
		t.Fatal(err)
	}
	ingest(t, s, public.ID, reportNo(3, 1), client.Main)

	found := func(all bool, text string) (list []string) {
		t.Helper()
		hits, err := s.Search(t.Context(), 0, all, text)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hits {
			list = append(list, h.Project+" "+h.Kind+" "+h.Name)
		}
		return list
	}
	for _, c := range []struct {
		all  bool
		text string
		want []string
	}{
		{false, "matmul n0", []string{"open series matmul/N0"}}, // nobody sees what is private
		{true, "matmul n1", []string{"kernels series matmul/N1", "kernels series matmul/N1", "kernels series matmul/N1"}},
		{true, reportNo(1, 1).Run, []string{"kernels run " + reportNo(1, 1).Run}},
		{true, sha(3)[:39], []string{"kernels commit " + sha(0), "kernels commit " + sha(1), "kernels commit " + sha(2), "kernels commit " + sha(3), "open commit " + sha(3)}},
		{false, "fast make", []string{"open commit " + sha(3)}},
		{true, "opE", []string{"open project open"}},
		{true, "  ", nil},
		{true, "100%", nil},
	} {
		if diff := cmp.Diff(c.want, found(c.all, c.text)); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}
