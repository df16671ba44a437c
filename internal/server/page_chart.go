package server

import (
	"cmp"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/eventstore"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
	"github.com/goatnote-inc/pawl/internal/server/web"
)

// Limits of a chart of several series.
const (
	lineBuckets = 100 // about 400 points per line
	lineEvents  = 50  // per line
)

// chartPage draws several series in one chart: ?series=1,2,3, or ?suite=SUITE&name=NAME for one case on every testbed.
func (s *Server) chartPage(r *http.Request, p store.Project) (web.View, error) {
	q := choices(r, "by", "show", "days", "suite", "name")
	v := web.Chart{Project: p.Project, ByCommit: q.oneOf("by", "time", "commit") == "commit", Values: q.oneOf("show", "changes", "values") == "values", Days: q.number("days", 0, 3660, 90), States: eventStates()}
	ids := q.picked(r.URL.Query()["series"])
	if q.err != nil {
		return nil, q.err
	}
	ctx := r.Context()
	var list []client.Series
	var err error
	if name := q.text("name"); name != "" {
		list, err = s.store.SeriesList(ctx, p.ID, store.SeriesQuery{Suite: q.text("suite"), Name: name, Lane: client.Main, Limit: web.MaxLines})
	} else if len(ids) > 0 {
		list, err = s.store.SeriesByIDs(ctx, p.ID, ids)
		slices.SortFunc(list, func(a, b client.Series) int { return cmp.Compare(slices.Index(ids, a.ID), slices.Index(ids, b.ID)) })
	}
	if err != nil {
		return nil, err
	}
	beds, err := s.beds(ctx, p)
	if err != nil {
		return nil, err
	}
	from := time.Time{}
	if v.Days > 0 {
		from = s.now().AddDate(0, 0, -v.Days)
	}
	for _, one := range list {
		line := web.ChartLine{Series: one, Bed: beds[one.Testbed]}
		if line.Points, err = s.store.Points(ctx, p.ID, one.ID, pointstore.Range{From: from, Buckets: lineBuckets}); err != nil {
			return nil, err
		}
		events, err := s.store.Events(ctx, p.ID, eventstore.Query{Series: one.ID, Since: from, Limit: lineEvents})
		if err != nil {
			return nil, err
		}
		v.Lines, v.Events = append(v.Lines, line), append(v.Events, events...)
	}
	v.Values = v.Values && v.OneUnit()
	slices.SortStableFunc(v.Events, func(a, b client.Event) int { return a.At.Compare(b.At) })
	var shas []string
	for _, e := range v.Events {
		shas = append(shas, e.To)
	}
	slices.Sort(shas)
	if v.Titles, err = s.titles(ctx, p, slices.Compact(shas)); err != nil {
		return nil, err
	}
	v.CanWrite, err = s.may(r, p, Write)
	return v, err
}

// picked parses the ids of series, each given by itself or several joined by commas.
func (q *queryReader) picked(given []string) []int64 {
	var ids []int64
	for text := range strings.SplitSeq(strings.Join(given, ","), ",") {
		if text == "" {
			continue
		}
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil || id <= 0 {
			q.fail("series", "must be the numbers of series, such as 1,2,3")
			return nil
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		if len(ids) > web.MaxLines {
			q.fail("series", "has more than %d series, the most that one chart can show", web.MaxLines)
			return nil
		}
	}
	return ids
}
