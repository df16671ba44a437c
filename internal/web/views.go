package web

import (
	"fmt"
	"html/template"
	"net/http"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/ratchet"
)

// Side is one of two points that are compared.
type Side struct {
	Series client.Series
	Bed    string
	Point  client.Kept
	Run    client.Run
	Title  string // of the commit
}

// Ref names the point in a link.
func (s Side) Ref() string { return fmt.Sprintf("%d.%d", s.Series.ID, s.Point.Report) }

// Compare is two points side by side.
type Compare struct {
	A, B     Side
	Alike    bool // whether they can be held against each other
	Unlike   string
	Samples  template.HTML   // where the samples of both lie, judged; empty where they are not kept
	Verdict  ratchet.Verdict // of that judgement
	Missing  string          // why there is none
	Sentence string
}

// Title is the heading.
func (c Compare) Title() string { return "Two points of " + report.Plain(c.A.Series.Name) }
func (Compare) tab() string     { return "series" }

// Change is how far B is from A, as a share.
func (c Compare) Change() float64 { return float64(c.B.Point.Value)/float64(c.A.Point.Value) - 1 }

// Worse tells whether B is worse than A.
func (c Compare) Worse() bool {
	return (c.B.Point.Value > c.A.Point.Value) != (c.A.Series.Better == "higher")
}

// Apart tells whether the intervals have no value in common.
func (c Compare) Apart() bool {
	return c.A.Point.Low > c.B.Point.High || c.B.Point.Low > c.A.Point.High
}

// Drawing shows the two intervals on one scale.
func (c Compare) Drawing() template.HTML { return drawSides(c.A, c.B) }

// RunPoint is the result of one case of a run.
type RunPoint struct {
	Series client.Series
	Point  client.Kept
}

// Run is everything about one run.
type Run struct {
	Run    client.Run
	Bed    string
	Commit string // title of it
	Author string
	Points []RunPoint
	Report template.HTML // the whole report; empty where its parts are not kept
	Why    string        // it is empty
}

// Title is the heading.
func (r Run) Title() string {
	return "Run of " + report.Plain(r.Run.Suite) + ", " + minute(r.Run.Measured)
}
func (Run) tab() string { return "runs" }

// Runs are the latest runs.
type Runs struct {
	List []client.Run
	Beds map[int64]string
	Lane string
	Next string
	Live []client.LiveRun // under way, or just over
}

// Title is the heading.
func (Runs) Title() string { return "Runs" }
func (Runs) tab() string   { return "runs" }

// Hit is something that was searched for.
type Hit struct {
	Kind    string // project, series, run or commit
	Project string
	Text    string
	Detail  string
	URL     string
}

// Search is what was found for a text.
type Search struct {
	Text string
	Hits []Hit
}

// Title is the heading.
func (Search) Title() string { return "Search" }
func (Search) tab() string   { return "" }

// Login is the way in.
type Login struct {
	Start  string // where the login begins; empty where there is none
	Name   string // of who knows people
	Failed string
}

// Title is the heading.
func (Login) Title() string { return "Log in" }
func (Login) tab() string   { return "" }

// Problem is a page that could not be shown.
type Problem struct {
	Status  int
	Detail  string
	Request string
}

// Title is the heading.
func (p Problem) Title() string { return http.StatusText(p.Status) }
func (Problem) tab() string     { return "" }
