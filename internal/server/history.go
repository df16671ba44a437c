package server

import (
	"net/http"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

var lanes = []string{string(client.Main), string(client.Branch), string(client.Fork)}

var listSeries = paged("series", (*store.Store).SeriesList, func(s client.Series) int64 { return s.ID },
	[]string{"suite", "testbed", "lane", "text"}, func(q *queryReader, after int64, limit int) store.SeriesQuery {
		return store.SeriesQuery{
			Suite: q.text("suite"), Testbed: q.id("testbed"), Lane: client.Lane(q.oneOf("lane", lanes...)), Text: q.text("text"), After: after, Limit: limit,
		}
	})

// Limits on points: as many as a chart can draw or a program wants at once.
const (
	pointsDefault = 1_000
	bucketsMost   = 5_000
)

// getPoints returns the newest points, those between two times, or their outline: with buckets, extremes
// are kept.
func (s *Server) getPoints(w http.ResponseWriter, r *http.Request, p store.Project) error {
	id, err := idOf(r, "id")
	if err != nil {
		return err
	}
	q := ask(r, "from", "to", "last", "buckets")
	want := pointstore.Range{From: q.time("from"), To: q.time("to"), Last: q.number("last", 1, pointstore.MaxPoints, 0), Buckets: q.number("buckets", 1, bucketsMost, 0)}
	if want.From.IsZero() && want.To.IsZero() && want.Last == 0 && want.Buckets == 0 {
		want.Last = pointsDefault
	}
	if q.err != nil {
		return q.err
	}
	if _, err := s.store.SeriesByID(r.Context(), p.ID, id); err != nil {
		return err
	}
	points, err := s.store.Points(r.Context(), p.ID, id, want)
	if err != nil {
		return err
	}
	return show(w, r, onePage(points))
}

var listRuns = paged("runs", (*store.Store).Runs, func(r client.Run) int64 { return r.ID },
	[]string{"suite", "testbed", "lane", "commit"}, func(q *queryReader, before int64, limit int) store.RunQuery {
		return store.RunQuery{
			Suite: q.text("suite"), Testbed: q.id("testbed"), Lane: client.Lane(q.oneOf("lane", lanes...)), Commit: q.text("commit"), Before: before, Limit: limit,
		}
	})

// runOf returns the run of a request.
func (s *Server) runOf(r *http.Request, p store.Project) (client.Run, error) {
	id, err := idOf(r, "id")
	if err != nil {
		return client.Run{}, err
	}
	return s.store.Run(r.Context(), p.ID, id)
}

func (s *Server) getRunPoints(w http.ResponseWriter, r *http.Request, p store.Project) error {
	id, err := idOf(r, "id")
	if err != nil {
		return err
	}
	points, err := s.store.RunSeries(r.Context(), p.ID, id)
	if err != nil {
		return err
	}
	return show(w, r, onePage(points))
}

func (s *Server) getTestbedHistory(w http.ResponseWriter, r *http.Request, p store.Project) error {
	id, err := idOf(r, "id")
	if err != nil {
		return err
	}
	q := ask(r, "since", "limit")
	since, most := q.time("since"), q.limit()
	if q.err != nil {
		return q.err
	}
	if _, err := s.store.Testbed(r.Context(), p.ID, id); err != nil {
		return err
	}
	list, err := s.store.TestbedHistory(r.Context(), p.ID, id, since, most)
	if err != nil {
		return err
	}
	return show(w, r, onePage(list))
}

func (s *Server) getHeat(w http.ResponseWriter, r *http.Request, p store.Project) error {
	q := ask(r, "testbed", "implementation", "commits")
	want := store.HeatQuery{
		Suite: r.PathValue("suite"), Testbed: q.id("testbed"), Implementation: q.text("implementation"),
		Commits: q.number("commits", 1, store.MostHeatCommits, 0),
	}
	if q.err != nil {
		return q.err
	}
	heat, err := s.store.Heat(r.Context(), p.ID, want)
	if err != nil {
		return err
	}
	return show(w, r, heat)
}
