package store_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// foundSeries returns the names of the series that a search of all projects finds, and checks that the list of one project
// finds the same there.
func foundSeries(t testing.TB, s *store.Store, project int64, slug, text string) []string {
	t.Helper()
	hits, err := s.Search(t.Context(), 0, true, text)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, h := range hits {
		if h.Kind == "series" && h.Project == slug {
			names = append(names, h.Name)
		}
	}
	listed, err := s.SeriesList(t.Context(), project, store.SeriesQuery{Text: text, Limit: 20})
	if err != nil {
		t.Fatal(err)
	}
	var others []string
	for _, e := range listed {
		others = append(others, e.Name)
	}
	slices.Sort(names)
	slices.Sort(others)
	if diff := cmp.Diff(names, others); diff != "" && len(names) < 20 { // of more they show different ones
		t.Errorf("%q: a search and a list differ: %s", text, diff)
	}
	return names
}

func TestSearch_FindsSeriesByWords(t *testing.T) {
	s, url := opened(t)
	project, other := projectNamed(t, s, "kernels"), projectNamed(t, s, "other")
	ingest(t, s, project, reportNo(1, 3), client.Main)
	ingest(t, s, other, reportNo(1, 1), client.Main)
	all := []string{"matmul/N0", "matmul/N1", "matmul/N2"}
	check := func(text string, want []string) {
		t.Helper()
		if diff := cmp.Diff(want, foundSeries(t, s, project, "kernels", text)); diff != "" {
			t.Errorf("%q: %s", text, diff)
		}
	}
	check("mat", all)
	check("MATMUL n2", []string{"matmul/N2"})
	check("matmul/N2", []string{"matmul/N2"})
	check("2", []string{"matmul/N2"}) // a digit after a letter starts a word
	check("octo", all)                // an owner
	check("kernels/matmul.cu", all)   // a path
	check("mul", nil)                 // not the start of a word
	check("%", nil)
	check("matmul sdpa", nil)

	r := reportNo(2, 3)
	for i := range r.Points {
		r.Points[i].Owners = []string{"@octo/compilers"}
	}
	r.Points[0].Path = "kernels/gemm.cu"
	ingest(t, s, project, r, client.Main)
	check("compilers", all)
	check("gemm", []string{"matmul/N0"})
	if n := ask(t, url, `select count(*) from pawl.series_word w where w.project_id = $1 and not exists
		(select from pawl.series s where s.project_id = $1 and s.id = w.series_id and s.words || ' ' like '% ' || w.word || ' %')`, project); n != 0 {
		t.Errorf("%d words are left of what was changed", n)
	}
}

// Series of a version without search are indexed later.
func TestIndexWords(t *testing.T) {
	s, url := opened(t)
	project := projectNamed(t, s, "kernels")
	ingest(t, s, project, reportNo(1, 3), client.Main)
	conn := owner(t, url)
	for _, sql := range []string{`update pawl.series set words = null`, `delete from pawl.series_word`} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if got := foundSeries(t, s, project, "kernels", "matmul"); len(got) != 0 {
		t.Errorf("%q found without an index", got)
	}
	for _, want := range []int{3, 0} {
		if n, err := s.IndexWords(t.Context()); err != nil || n != want {
			t.Fatalf("indexed %d: %v, want %d", n, err, want)
		}
	}
	if got := foundSeries(t, s, project, "kernels", "matmul n1"); len(got) != 1 {
		t.Errorf("found %q", got)
	}
}

// fillSeries adds n series past the front door: of 20 kernels, in 100 suites.
func fillSeries(t testing.TB, url string, project int64, n int) {
	t.Helper()
	conn := owner(t, url)
	defer conn.Close(context.WithoutCancel(t.Context()))
	for _, sql := range []string{
		`insert into pawl.testbed (project_id, key, facts) values ($1, 'bed', '{"device": "L4"}')`,
		fmt.Sprintf(`insert into pawl.series (project_id, suite, name, benchmark, config, implementation, testbed_id, lane, unit, path, owners)
			select $1, 'suite' || i %% 100, k || '/B' || i || '_H' || i %% 32, k, 'B' || i || '_H' || i %% 32, 'candidate',
			  (select min(id) from pawl.testbed where project_id = $1), 0, 'ns', 'kernels/' || k || '.cu', array['@octo/team' || i %% 7]
			from (select i, (array['attention', 'gemm', 'layernorm', 'softmax', 'conv', 'scan', 'reduce', 'transpose', 'gather', 'scatter',
			  'rope', 'topk', 'moe', 'quantize', 'dequantize', 'histogram', 'stencil', 'fft', 'sort', 'spmm'])[1 + i * 20 / %[1]d] as k from generate_series(0, %[1]d - 1) i) g`, n),
	} {
		if _, err := conn.Exec(t.Context(), sql, project); err != nil {
			t.Fatal(err)
		}
	}
	s, err := store.Open(t.Context(), store.Config{URL: url, AllowUnsafe: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if done, err := s.IndexWords(t.Context()); err != nil || done < n {
		t.Fatalf("indexed %d: %v", done, err)
	}
	if _, err := conn.Exec(t.Context(), `vacuum analyze`); err != nil {
		t.Fatal(err)
	}
}

// Words that very many series have are searched in another way, with the same results.
func TestSearch_FindsCommonWords(t *testing.T) {
	s, url := opened(t)
	project := projectNamed(t, s, "kernels")
	const n = 22_000
	fillSeries(t, url, project, n)
	for _, c := range []struct {
		text string
		want int
	}{
		{"suite", 20},
		{"octo", 20},
		{"octo suite", 20},
		{"octo suite attention", 20},
		{"spmm octo", 20},
		{fmt.Sprintf("octo suite b%d", n-1), 1},
		{"octo b21999 attention", 0},
		{"attention gemm", 0},
		{"b", 20}, // more words and entries than are read
		{"b spmm", 20},
		{"b h31 spmm", 20},
		{"b2 b3", 0},
		{"octo kernels nothing", 0},
	} {
		if got := foundSeries(t, s, project, "kernels", c.text); len(got) != c.want {
			t.Errorf("%q finds %d, want %d", c.text, len(got), c.want)
		}
	}
	seen := 0
	for after := int64(0); ; {
		list, err := s.SeriesList(t.Context(), project, store.SeriesQuery{Text: "gemm octo", After: after, Limit: 300})
		if err != nil {
			t.Fatal(err)
		}
		if seen += len(list); len(list) < 300 {
			break
		}
		after = list[len(list)-1].ID
	}
	if seen != n/20 {
		t.Errorf("the pages of a list have %d series, want %d", seen, n/20)
	}
}
