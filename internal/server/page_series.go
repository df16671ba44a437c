package server

import (
	"cmp"
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
	if v.Titles, err = s.titles(ctx, p, slices.Compact(shas)); err != nil {
		return nil, err
	}
	v.States = eventStates()
	v.CanWrite, err = s.may(r, p, Write)
	return v, err
}

// Limits of a list of series.
const (
	seriesShown = 50
	sparkPoints = 60 // newest points of each
)

// seriesListPage lists series with their last points and their newest change.
func (s *Server) seriesListPage(r *http.Request, p store.Project) (web.View, error) {
	q := choices(r, "suite", "lane", "text", "testbed", "order", "days", "cursor")
	v := web.SeriesList{
		Suite: q.text("suite"), Lane: client.Lane(q.oneOf("lane", lanes...)), Text: q.text("text"), Testbed: q.id("testbed"),
		Order: q.oneOf("order", web.SeriesOrders...), Days: q.number("days", 1, 366, 30),
	}
	v.Lane, v.Order = cmp.Or(v.Lane, client.Main), cmp.Or(v.Order, string(store.ByName))
	want := store.SeriesQuery{Suite: v.Suite, Lane: v.Lane, Text: v.Text, Testbed: v.Testbed, After: q.cursor("series-" + v.Order), Limit: seriesShown + 1}
	if q.err != nil {
		return nil, q.err
	}
	ctx := r.Context()
	list, changed, err := s.store.SeriesChanges(ctx, p.ID, want, store.SeriesOrder(v.Order), s.now().AddDate(0, 0, -v.Days))
	if err != nil {
		return nil, err
	}
	part := pageOf("series-"+v.Order, list, seriesShown, func(e store.SeriesChange) int64 { return e.ID })
	v.Next, v.Changed = next(r, part.Next), changed
	ids := make([]int64, len(part.Items))
	for i, one := range part.Items {
		ids[i] = one.ID
	}
	tails, err := s.store.NewestPoints(ctx, p.ID, ids, sparkPoints)
	if err != nil {
		return nil, err
	}
	for _, one := range part.Items {
		v.List = append(v.List, web.SeriesRow{Series: one.Series, Change: one.Change, Points: tails[one.ID]})
	}
	if v.Beds, err = s.beds(ctx, p); err != nil {
		return nil, err
	}
	v.Suites, err = s.store.Suites(ctx, p.ID)
	return v, err
}
