package server

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/web"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// runsShown is the number of runs per page.
const runsShown = 50

func (s *Server) runsPage(r *http.Request, p store.Project) (web.View, error) {
	q := choices(r, "lane", "suite", "commit", "testbed", "cursor")
	want := store.RunQuery{
		Lane: client.Lane(q.oneOf("lane", lanes...)), Suite: q.text("suite"), Commit: q.text("commit"), Testbed: q.id("testbed"),
		Before: q.cursor("runs"), Limit: runsShown + 1,
	}
	if q.err != nil {
		return nil, q.err
	}
	list, err := s.store.Runs(r.Context(), p.ID, want)
	if err != nil {
		return nil, err
	}
	part := pageOf("runs", list, runsShown, func(e client.Run) int64 { return e.ID })
	latestFirst(part.Items)
	v := web.Runs{List: part.Items, Lane: string(want.Lane), Next: next(r, part.Next), Live: s.lives.list(p.ID)}
	v.Beds, err = s.beds(r.Context(), p)
	return v, err
}

// latestFirst sorts the runs of a page by time of measurement. They arrive and are listed in another order.
func latestFirst(runs []client.Run) {
	slices.SortStableFunc(runs, func(a, b client.Run) int { return b.Measured.Compare(a.Measured) })
}

func (s *Server) runPage(r *http.Request, p store.Project) (web.View, error) {
	ctx := r.Context()
	run, err := s.runOf(r, p)
	if err != nil {
		return nil, err
	}
	v := web.Run{Project: p.Project, Run: run}
	bed, err := s.store.Testbed(ctx, p.ID, run.Testbed)
	if err != nil {
		return nil, err
	}
	v.Bed = web.TestbedName(bed.Facts)
	told, err := s.store.Revisions(ctx, p.ID, []string{run.Commit})
	if err != nil {
		return nil, err
	}
	v.Commit, v.Author = told[run.Commit].Title, told[run.Commit].Author
	if v.Points, err = s.store.RunSeries(ctx, p.ID, run.ID); err != nil {
		return nil, err
	}
	slices.SortStableFunc(v.Points, func(a, b client.RunPoint) int {
		return cmp.Or(cmp.Compare(weight(a.Point.Verdict), weight(b.Point.Verdict)), cmp.Compare(a.Series.Name, b.Series.Name))
	})
	v.Report, err = s.wholeReport(ctx, p, run)
	if why, ok := errors.AsType[*Problem](err); ok { // the page shows the rest without it
		v.Why, err = "The whole report cannot be shown: "+why.Detail+".", nil
	}
	return v, err
}

// weight ranks verdicts so that the most relevant come first.
func weight(verdict string) int {
	order := []string{string(ratchet.Broken), string(ratchet.Regression), string(ratchet.Missing), string(ratchet.Inconclusive), string(ratchet.Improvement), string(ratchet.New)}
	if i := slices.Index(order, verdict); i >= 0 {
		return i
	}
	return len(order)
}

// Limits of the cache of rebuilt reports, in bytes.
const (
	judgedBytes   = 64 << 20
	judgedLargest = 8 << 20
)

// wholeReport rebuilds the report of a run from the files sent with it. A Problem explains why there is
// none. Unpacking and judging a record again takes seconds, and gives the same result as long as the files
// are the same, so reports that people view are cached.
func (s *Server) wholeReport(ctx context.Context, p store.Project, run client.Run) (template.HTML, error) {
	names := []string{fmt.Sprint(p.ID)}
	for _, b := range run.Blobs {
		names = append(names, b.Digest)
	}
	key := strings.Join(names, " ")
	if text, ok := s.judged.get(key); ok {
		return text, nil
	}
	done, err := s.unpacking(ctx, p.ID)
	if err != nil {
		return "", err
	}
	defer done()
	record, err := s.record(ctx, p.ID, run)
	if err != nil {
		return "", err
	}
	in := report.Input{Run: record}
	in.Result, err = s.verdictOf(ctx, p, run, record)
	if err != nil {
		return "", err
	}
	if in.Whys, err = s.whysOf(ctx, p, run); err != nil {
		return "", err
	}
	text, err := report.Part(report.NewDocument(in))
	if err == nil && len(text) <= judgedLargest {
		s.judged.getOr(key, len(text), func() template.HTML { return text })
	}
	return text, err
}

// verdictOf returns the verdict that the sender reported. If there is none and both sides were measured, it
// judges the record itself. Otherwise it returns nil.
func (s *Server) verdictOf(ctx context.Context, p store.Project, run client.Run, record *measure.Run) (*ratchet.Result, error) {
	if which, ok := blobOf(run, client.BlobVerdict); ok {
		var said ratchet.Result
		err := s.unpack(ctx, p.ID, which, func(document io.Reader) error { return json.NewDecoder(document).Decode(&said) })
		if err == nil {
			return &said, nil
		}
		if !errors.Is(err, errNoRecord) {
			return nil, err
		}
	}
	measured := func(side string) bool {
		return slices.ContainsFunc(record.Cases, func(c measure.Case) bool { return c.Implementation == side })
	}
	if !measured(measure.Base) || !measured(measure.Candidate) {
		return nil, nil // a run that was not judged
	}
	same := []*measure.Run{record}
	result := ratchet.Judge(ratchet.Default().ForPlan(record.Plan), ratchet.Gather(same, same, measure.Base, measure.Candidate))
	return &result, nil
}

// whysShown is the number of cases whose reasons a report shows.
const whysShown = 100

// whysOf returns what profiles show about the cases of a run. If the file is missing or damaged, the report
// shows the rest.
func (s *Server) whysOf(ctx context.Context, p store.Project, run client.Run) ([]report.Why, error) {
	which, ok := blobOf(run, client.BlobWhy)
	if !ok {
		return nil, nil
	}
	var said []report.WhyDocument
	err := s.unpack(ctx, p.ID, which, func(document io.Reader) error { return json.NewDecoder(document).Decode(&said) })
	if _, refused := errors.AsType[*Problem](err); refused {
		return nil, nil
	}
	var whys []report.Why
	for _, one := range said[:min(len(said), whysShown)] {
		whys = append(whys, one.Why())
	}
	return whys, err
}
