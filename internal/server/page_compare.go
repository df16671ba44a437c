package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/web"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// comparePage compares two points (?a=SERIES.REPORT&b=SERIES.REPORT), or two runs or commits (?a=run-12&b=4f2a91).
func (s *Server) comparePage(r *http.Request, p store.Project) (web.View, error) {
	q := choices(r, "a", "b", "commit-a", "commit-b")
	a, b := cmp.Or(strings.TrimSpace(q.text("commit-a")), q.text("a")), cmp.Or(strings.TrimSpace(q.text("commit-b")), q.text("b"))
	if strings.Contains(a+b, ".") {
		return s.comparePoints(r.Context(), p, a, b)
	}
	return s.compareRuns(r.Context(), p, a, b)
}

func (s *Server) comparePoints(ctx context.Context, p store.Project, a, b string) (web.View, error) {
	var v web.Compare
	var err error
	if v.A, err = s.side(ctx, p, a); err != nil {
		return nil, err
	}
	if v.B, err = s.side(ctx, p, b); err != nil {
		return nil, err
	}
	v.Unlike = whyNotComparable(v.A, v.B)
	if v.Alike = v.Unlike == ""; !v.Alike {
		return v, nil
	}
	v.Sentence = said(v)
	v.Samples, v.Verdict, err = s.compared(ctx, p, v.A, v.B)
	if why, ok := errors.AsType[*Problem](err); ok { // the page shows the rest without it
		v.Missing, err = "The samples cannot be shown: "+why.Detail+".", nil
	}
	return v, err
}

// side returns one point with its series, run and testbed.
func (s *Server) side(ctx context.Context, p store.Project, ref string) (web.Side, error) {
	first, second, _ := strings.Cut(ref, ".")
	series, err := strconv.ParseInt(first, 10, 64)
	run, err2 := strconv.ParseInt(second, 10, 64)
	if err != nil || err2 != nil {
		return web.Side{}, badRequest("a and b: must be two points as SERIES.REPORT, such as ?a=12.345&b=12.346; choose them on the page of a series")
	}
	points, err := s.store.RunSeries(ctx, p.ID, run)
	if err != nil {
		return web.Side{}, err
	}
	i := slices.IndexFunc(points, func(one client.RunPoint) bool { return one.Series.ID == series })
	if i < 0 {
		return web.Side{}, problem(http.StatusNotFound, "not-found", "run %d has no point of series %d", run, series)
	}
	side := web.Side{Series: points[i].Series, Point: points[i].Point}
	if side.Run, err = s.store.Run(ctx, p.ID, run); err != nil {
		return web.Side{}, err
	}
	bed, err := s.store.Testbed(ctx, p.ID, side.Series.Testbed)
	if err != nil {
		return web.Side{}, err
	}
	side.Bed = web.TestbedName(bed.Facts)
	titles, err := s.titles(ctx, p, []string{side.Point.Commit})
	side.Title = titles[side.Point.Commit]
	return side, err
}

// whyNotComparable explains why two points cannot be compared; empty if they can.
func whyNotComparable(a, b web.Side) string {
	switch {
	case a.Series.Unit != b.Series.Unit:
		return fmt.Sprintf("One is in %s, the other in %s.", a.Series.Unit, b.Series.Unit)
	case a.Series.Better != b.Series.Better:
		return "Lower is better for one, higher is better for the other."
	case a.Series.Testbed != b.Series.Testbed:
		return "They were measured on different testbeds: a difference between them is not a change of the code."
	case !(a.Point.Value > 0) || !(b.Point.Value > 0):
		return "One of them is not a number above zero."
	default:
		return ""
	}
}

func said(v web.Compare) string {
	text := fmt.Sprintf("A took %s, B %s", words.Quantity(float64(v.A.Point.Value), v.A.Series.Unit), words.Quantity(float64(v.B.Point.Value), v.B.Series.Unit))
	if v.Apart() {
		return text + ". Their intervals do not overlap."
	}
	return text + ". Their intervals overlap: there may be no change."
}

// compared judges the two records again, as pawl compare does, and keeps only the one case.
func (s *Server) compared(ctx context.Context, p store.Project, a, b web.Side) (template.HTML, ratchet.Verdict, error) {
	done, err := s.unpacking(ctx, p.ID)
	if err != nil {
		return "", "", err
	}
	defer done()
	base, err := s.recordOfCase(ctx, p, a)
	if err != nil {
		return "", "", err
	}
	candidate, err := s.recordOfCase(ctx, p, b)
	if err != nil {
		return "", "", err
	}
	if len(base.Cases) == 0 || len(candidate.Cases) == 0 {
		return "", "", problem(http.StatusNotFound, "no-record", "a record does not contain the case")
	}
	side := a.Series.Implementation
	runsA, runsB := []*measure.Run{base}, []*measure.Run{candidate}
	if differs := ratchet.Mismatch(slices.Concat(runsA, runsB)); len(differs) > 0 {
		return "", "", problem(http.StatusConflict, "unlike", "the records differ in %s", strings.Join(differs, ", "))
	}
	result := ratchet.Judge(ratchet.Default(), ratchet.Gather(runsA, runsB, side, b.Series.Implementation))
	part, err := report.Part(report.NewDocument(report.Input{
		Result: &result, Sides: report.Sides{Base: runsA, Candidate: runsB, BaseName: side, CandidateName: b.Series.Implementation},
	}))
	return part, result.Verdict, err
}

// recordOfCase returns the record of a run without its other cases.
func (s *Server) recordOfCase(ctx context.Context, p store.Project, side web.Side) (*measure.Run, error) {
	record, err := s.record(ctx, p.ID, side.Run)
	if err != nil {
		return nil, err
	}
	if _, kept := blobOf(side.Run, client.BlobSamples); !kept {
		return nil, problem(http.StatusNotFound, "no-samples", "the samples of run %d were not sent", side.Run.ID)
	}
	record.Cases = slices.DeleteFunc(record.Cases, func(c measure.Case) bool {
		return c.CaseKey != side.Series.CaseKey
	})
	return record, nil
}
