package web

import (
	"fmt"
	"html/template"
	"net/http"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Side is one of the two points that are compared.
type Side struct {
	Series client.Series
	Bed    string
	Point  client.StoredPoint
	Run    client.Run
	Title  string // of the commit
}

// Ref identifies the point in a link.
func (s Side) Ref() string { return fmt.Sprintf("%d.%d", s.Series.ID, s.Point.Report) }

// Compare is the page of two points side by side.
type Compare struct {
	A, B     Side
	Alike    bool // whether they can be compared
	Unlike   string
	Samples  template.HTML   // report on the samples of both; empty if they are not kept
	Verdict  ratchet.Verdict // of that report
	Missing  string          // why there is no report
	Sentence string
}

// Title returns the heading.
func (c Compare) Title() string { return "Two points of " + words.Sanitize(c.A.Series.Name) }
func (Compare) tab() string     { return "compare" }

// Change returns the relative difference of B from A.
func (c Compare) Change() float64 { return float64(c.B.Point.Value)/float64(c.A.Point.Value) - 1 }

// Worse reports whether B is worse than A.
func (c Compare) Worse() bool {
	return (c.B.Point.Value > c.A.Point.Value) != (c.A.Series.Better == "higher")
}

// Apart reports whether the intervals do not overlap.
func (c Compare) Apart() bool {
	return c.A.Point.Low > c.B.Point.High || c.B.Point.Low > c.A.Point.High
}

// Drawing draws the two intervals on one scale.
func (c Compare) Drawing() template.HTML { return drawSides(c.A, c.B) }

// Run is the page of one run.
type Run struct {
	Project client.Project
	Run     client.Run
	Bed     string
	Commit  string // its title
	Author  string
	Points  []client.RunPoint
	Report  template.HTML // the whole report; empty if its files are not kept
	Why     string        // why Report is empty
}

// Title summarizes the results.
func (r Run) Title() string {
	judged, count := 0, map[string]int{}
	for _, p := range r.Points {
		if p.Point.Verdict != "" {
			judged++
			count[p.Point.Verdict]++
		}
	}
	cases := words.Plural(judged, "case")
	for _, c := range []struct {
		verdict ratchet.Verdict
		text    string
	}{
		{ratchet.Broken, "%d of %s broken"},
		{ratchet.Regression, "%d of %s got worse"},
		{ratchet.Missing, "%d of %s missing"},
		{ratchet.Inconclusive, "No answer for %d of %s"},
		{ratchet.Improvement, "%d of %s got better"},
	} {
		if n := count[string(c.verdict)]; n > 0 {
			return fmt.Sprintf(c.text, n, cases)
		}
	}
	switch judged {
	case 0:
		return words.Plural(len(r.Points), "case") + " measured"
	case 1:
		return "The case held"
	default:
		return "All " + cases + " held"
	}
}
func (Run) tab() string { return "runs" }

// Runs is the page of the latest runs.
type Runs struct {
	List []client.Run
	Beds map[int64]string
	Lane string
	Next string
	Live []client.LiveRun // in progress, or just ended
}

// Title returns the heading.
func (Runs) Title() string { return "Runs" }
func (Runs) tab() string   { return "runs" }

// Hit is one search result.
type Hit struct {
	Kind    string // project, series, run or commit
	Project string
	Text    string
	Detail  string
	URL     string
}

// Search is the page of search results.
type Search struct {
	Text string
	Hits []Hit
}

// Title returns the heading.
func (Search) Title() string { return "Search" }
func (Search) tab() string   { return "" }

// Login is the login page.
type Login struct {
	Start  string // URL that starts the login; empty if there is no login
	Name   string // of the login provider
	Failed string
}

// Title returns the heading.
func (Login) Title() string { return "Log in" }
func (Login) tab() string   { return "" }

// Problem is the error page.
type Problem struct {
	Status  int
	Detail  string
	Request string
}

// Title returns the heading.
func (p Problem) Title() string { return http.StatusText(p.Status) }
func (Problem) tab() string     { return "" }
