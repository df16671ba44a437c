package server

import (
	"net/http"
	"slices"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/eventstore"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
	"github.com/goatnote-inc/pawl/internal/server/web"
)

// bucketsShown is the initial resolution of a chart: about 2,000 points.
const bucketsShown = 500

func (s *Server) seriesPage(r *http.Request, p store.Project) (web.View, error) {
	id, err := idOf(r, "id")
	if err != nil {
		return nil, err
	}
	q := choices(r, "from", "to", "buckets")
	v := web.Series{Project: p.Project, From: q.time("from"), To: q.time("to"), Buckets: q.number("buckets", 10, bucketsMost, bucketsShown)}
	if q.err != nil {
		return nil, q.err
	}
	ctx := r.Context()
	if v.Series, err = s.store.SeriesByID(ctx, p.ID, id); err != nil {
		return nil, err
	}
	bed, err := s.store.Testbed(ctx, p.ID, v.Series.Testbed)
	if err != nil {
		return nil, err
	}
	v.Bed = web.TestbedName(bed.Facts)
	if v.Points, err = s.store.Points(ctx, p.ID, id, pointstore.Range{From: v.From, To: v.To, Buckets: v.Buckets}); err != nil {
		return nil, err
	}
	v.Thinned = v.Series.Points > len(v.Points)
	if v.Events, err = s.store.Events(ctx, p.ID, eventstore.Query{Series: id, Limit: 200}); err != nil {
		return nil, err
	}
	slices.SortStableFunc(v.Events, func(a, b client.Event) int { return a.At.Compare(b.At) })
	var shas []string
	for _, k := range v.Points {
		shas = append(shas, k.Commit)
	}
	for _, e := range v.Events {
		shas = append(shas, e.To)
	}
	slices.Sort(shas)
	v.Titles, err = s.titles(ctx, p, slices.Compact(shas))
	return v, err
}

func (s *Server) seriesListPage(r *http.Request, p store.Project) (web.View, error) {
	q := choices(r, "suite", "lane", "text", "testbed", "cursor")
	v := web.SeriesList{Suite: q.text("suite"), Lane: client.Lane(q.oneOf("lane", lanes...)), Text: q.text("text")}
	if v.Lane == "" {
		v.Lane = client.Main
	}
	want := store.SeriesQuery{Suite: v.Suite, Lane: v.Lane, Text: v.Text, Testbed: q.id("testbed"), After: q.cursor("series"), Limit: listDefault + 1}
	if q.err != nil {
		return nil, q.err
	}
	list, err := s.store.SeriesList(r.Context(), p.ID, want)
	if err != nil {
		return nil, err
	}
	part := pageOf("series", list, listDefault, func(e client.Series) int64 { return e.ID })
	v.List, v.Next = part.Items, next(r, part.Next)
	if v.Beds, err = s.beds(r.Context(), p); err != nil {
		return nil, err
	}
	v.Suites, err = s.store.Suites(r.Context(), p.ID)
	return v, err
}
