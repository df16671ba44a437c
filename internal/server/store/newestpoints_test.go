package store_test

import (
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// The newest of each series, wherever they rest, and of no other project.
func TestTails(t *testing.T) {
	s, url := opened(t)
	project, other := projectNamed(t, s, "kernels"), projectNamed(t, s, "other")
	from := time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)
	points := somePoints(from, 600, 1)
	hot(t, url, project, 7, points)
	hot(t, url, project, 8, points[:3])
	if _, err := s.Compact(t.Context(), pointstore.CompactOptions{Before: from.Add(550 * time.Hour)}); err != nil {
		t.Fatal(err)
	}
	tails, err := s.NewestPoints(t.Context(), project, []int64{7, 8, 9}, 100)
	if err != nil {
		t.Fatal(err)
	}
	if len(tails[7]) != 100 || len(tails[8]) != 3 || len(tails[9]) != 0 {
		t.Fatalf("%d, %d and %d points", len(tails[7]), len(tails[8]), len(tails[9]))
	}
	for i, p := range tails[7] {
		if want := points[500+i]; p.Report != want.Report || p.Value != want.Value {
			t.Fatalf("point %d is of report %d, want %d", i, p.Report, want.Report)
		}
	}
	if tails, err := s.NewestPoints(t.Context(), other, []int64{7}, 100); err != nil || len(tails[7]) != 0 {
		t.Errorf("another project sees %d points: %v", len(tails[7]), err)
	}
}

func TestRevisions(t *testing.T) {
	s, _ := opened(t)
	project, other := projectNamed(t, s, "kernels"), projectNamed(t, s, "other")
	r := reportNo(1, 1)
	r.Commit.Title, r.Commit.Author = "matmul: widen the tile", "lin"
	ingest(t, s, project, r, client.Main)
	known, err := s.Revisions(t.Context(), project, []string{r.Commit.SHA, sha(999)})
	if err != nil {
		t.Fatal(err)
	}
	if c := known[r.Commit.SHA]; len(known) != 1 || c.Title != r.Commit.Title || c.Author != "lin" || c.At == nil {
		t.Errorf("known are %+v", known)
	}
	if known, err := s.Revisions(t.Context(), other, []string{r.Commit.SHA}); err != nil || len(known) != 0 {
		t.Errorf("another project knows %+v: %v", known, err)
	}
}

// What a fork says of a commit is not remembered beyond what the repository says of it,
// and nothing is known across projects.
func TestRevisionsAreNotStale(t *testing.T) {
	s, _ := opened(t)
	p, other := projectNamed(t, s, "kernels"), projectNamed(t, s, "other")
	tell := func(n int, lane client.Lane, title string) {
		r := reportNo(n, 1)
		at := *reportNo(0, 1).Commit.At
		r.Commit = client.Commit{SHA: sha(7), At: &at, Title: title}
		ingest(t, s, p, r, lane)
	}
	title := func(project int64) string {
		told, err := s.Revisions(t.Context(), project, []string{sha(7), sha(8)})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := told[sha(8)]; ok {
			t.Error("a commit that nobody told of is known")
		}
		return told[sha(7)].Title
	}
	if got := title(p); got != "" {
		t.Errorf("%q before anybody told of it", got)
	}
	for n, c := range []struct {
		lane        client.Lane
		title, want string
	}{{client.Fork, "a stranger's", "a stranger's"}, {client.Main, "ours", "ours"}, {client.Fork, "a stranger's again", "ours"}} {
		tell(n, c.lane, c.title)
		for range 2 { // read, and remembered
			if got := title(p); got != c.want {
				t.Errorf("after %q: %q, want %q", c.title, got, c.want)
			}
		}
	}
	if got := title(other); got != "" {
		t.Errorf("another project knows %q", got)
	}
}
