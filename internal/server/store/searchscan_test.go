package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// A search finds what a scan of all texts finds, and a list does so page by page: words that few series have, or many, in one place
// or everywhere, beside series that are excluded, deleted, or have lost a word.
func TestSearch_FindsWhatAScanFinds(t *testing.T) {
	s, url := opened(t)
	project := projectNamed(t, s, "kernels")
	rng := rand.New(rand.NewPCG(24, 7))
	fillRandom(t, s, url, project, rng, 7_000)
	all := scanTexts(t, url, project)
	for range 80 {
		q := store.SeriesQuery{Text: randomText(rng), Limit: []int{1, 7, 100, 1000}[rng.IntN(4)]}
		if rng.IntN(3) == 0 {
			q.Lane = searchedLanes[rng.IntN(3)]
		}
		if rng.IntN(4) == 0 {
			q.Suite = fmt.Sprintf("suite%d", rng.IntN(5))
		}
		if rng.IntN(2) == 0 {
			q.After = all[rng.IntN(len(all))].ID
		}
		checkList(t, s, project, q, all)
		checkSearch(t, s, q.Text, all)
	}
}

// searchedLanes are the lanes in the order of their numbers.
var searchedLanes = []client.Lane{client.Main, client.Branch, client.Fork}

// seriesText is a series as a scan sees it.
type seriesText struct {
	ID       int64
	Lane     int16
	Suite    string
	Words    string
	Excluded bool
}

func (x seriesText) has(text string) bool {
	return !x.Excluded && !slices.ContainsFunc(strings.Fields(text), func(term string) bool { return !strings.Contains(x.Words, " "+term) })
}

func scanTexts(t *testing.T, url string, project int64) []seriesText {
	t.Helper()
	rows, err := owner(t, url).Query(t.Context(), `select id, lane, suite, words, excluded is not null from pawl.series where project_id = $1 order by id`, project)
	if err != nil {
		t.Fatal(err)
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[seriesText])
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// checkList compares the first pages of a list with a scan.
func checkList(t *testing.T, s *store.Store, project int64, q store.SeriesQuery, all []seriesText) {
	t.Helper()
	var got, want []int64
	for _, x := range all {
		if x.ID > q.After && x.has(q.Text) && (q.Suite == "" || x.Suite == q.Suite) && (q.Lane == "" || searchedLanes[x.Lane] == q.Lane) {
			want = append(want, x.ID)
		}
	}
	asked := q
	for range 4 {
		list, err := s.SeriesList(t.Context(), project, q)
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range list {
			got = append(got, one.ID)
		}
		if len(list) < q.Limit {
			break
		}
		q.After = list[len(list)-1].ID
	}
	if want = want[:min(len(want), 4*q.Limit)]; !slices.Equal(got, want) {
		t.Errorf("%+v: %d series, want %d: %s", asked, len(got), len(want), cmp.Diff(want, got))
	}
}

// checkSearch compares a search with a scan. Of more series than it shows, any will do.
func checkSearch(t *testing.T, s *store.Store, text string, all []seriesText) {
	t.Helper()
	hits, err := s.Search(t.Context(), 0, true, text)
	if err != nil {
		t.Fatal(err)
	}
	want, got := map[int64]bool{}, map[int64]bool{}
	for _, x := range all {
		if x.has(text) {
			want[x.ID] = true
		}
	}
	for _, h := range hits {
		if h.Kind != "series" {
			continue
		}
		if !want[h.ID] {
			t.Errorf("%q finds %q", text, h.Name)
		}
		got[h.ID] = true
	}
	if len(got) != min(len(want), 20) {
		t.Errorf("%q finds %d series of %d", text, len(got), len(want))
	}
}

// randomWords are words of random series: in one place, everywhere, in few series; and starts of several words.
var randomWords = []string{"alpha", "alphabet", "beta", "gamma", "delta", "octo", "suite3", "v7", "v39", "w4", "w149", "x77", "x6999", "zeta", "al", "v", "w", "x", "x1", "s"}

func randomText(rng *rand.Rand) string {
	var list []string
	for range 1 + rng.IntN(3) {
		word := randomWords[rng.IntN(len(randomWords))]
		list = append(list, word[:1+rng.IntN(len(word))])
	}
	slices.Sort(list)
	return strings.Join(slices.Compact(list), " ")
}

// fillRandom adds n series with random words past the front door.
func fillRandom(t *testing.T, s *store.Store, url string, project int64, rng *rand.Rand, n int) {
	t.Helper()
	conn := owner(t, url)
	var names, suites []string
	var numbers []int16 // of lanes
	for i := range n {
		name := fmt.Sprintf("x%d/v%d/w%d", i, rng.IntN(40), rng.IntN(150))
		if i < n/2 {
			name += "/alpha"
		} else {
			name += "/beta"
		}
		for _, rare := range []struct {
			word  string
			every int
		}{{"alphabet", 20}, {"gamma", 3}, {"delta", 200}} {
			if rng.IntN(rare.every) == 0 {
				name += "/" + rare.word
			}
		}
		names, suites, numbers = append(names, name), append(suites, fmt.Sprintf("suite%d", rng.IntN(5))), append(numbers, int16(rng.IntN(3)))
	}
	must(t, conn, `insert into pawl.testbed (project_id, key, facts) values ($1, 'bed', '{"device": "L4"}')`, project)
	must(t, conn, `insert into pawl.series (project_id, suite, name, benchmark, implementation, testbed_id, lane, unit, owners)
		select $1, suite, name, name, 'candidate', (select min(id) from pawl.testbed where project_id = $1), lane, 'ns', array['@octo']
		from unnest($2::text[], $3::text[], $4::smallint[]) as t(suite, name, lane)`, project, suites, names, numbers)
	if done, err := s.IndexWords(t.Context()); err != nil || done != n {
		t.Fatalf("indexed %d: %v", done, err)
	}
	must(t, conn, `update pawl.series set excluded = now() where project_id = $1 and id % 10 = 0`, project)
	must(t, conn, `update pawl.series set words = '' where project_id = $1 and id % 50 = 0`, project)
	// The other words of these are still in the index.
	must(t, conn, `update pawl.series set words = ' ' || split_part(words, ' ', 2) where project_id = $1 and id % 11 = 0`, project)
}
