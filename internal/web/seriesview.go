package web

import (
	"html/template"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/report"
)

// Series is the history of one case.
type Series struct {
	Project client.Project
	Series  client.Series
	Bed     string
	Points  []client.Kept // thinned out, the oldest first
	Thinned bool          // there are more
	Events  []client.Event
	Titles  map[string]string // of commits, where they are known
	From    time.Time         // what was asked for; zero for all
	To      time.Time
	Buckets int
}

// Title is the heading.
func (s Series) Title() string { return report.Plain(s.Series.Name) }
func (Series) tab() string     { return "series" }

// Chart is the history, drawn.
func (s Series) Chart() template.HTML { return drawHistory(s.Points, s.Events, s.Series.Unit) }

// Describe is the chart in words.
func (s Series) Describe() string { return describeHistory(s.Series, s.Points, s.Events) }

// Slower is the word for a higher value: of times, and of all else.
func (s Series) Slower() string {
	if s.Series.Better == "higher" {
		return "higher is better"
	}
	return "lower is better"
}

// rowsShown is how many points the table below a chart has: the last ones.
const rowsShown = 50

// Rows are the last points, the newest first.
func (s Series) Rows() []client.Kept {
	var rows []client.Kept
	for i := len(s.Points) - 1; i >= 0 && len(rows) < rowsShown; i-- {
		rows = append(rows, s.Points[i])
	}
	return rows
}

// chartData is what the script of a page draws. Points are columns: a page of thousands
// of them is a fourth as long.
type chartData struct {
	Project string       `json:"project"`
	Series  int64        `json:"series"`
	Unit    string       `json:"unit"`
	Higher  bool         `json:"higher"`
	Thinned bool         `json:"thinned"`
	Buckets int          `json:"buckets"`
	From    int64        `json:"from"`
	To      int64        `json:"to"`
	Columns chartColumns `json:"columns"`
	Events  []chartEvent `json:"events"`
	Commits string       `json:"commits"` // where a commit can be seen; empty for nowhere
	Compare string       `json:"compare"`
}

type chartColumns struct {
	At       []int64   `json:"at"`
	Report   []int64   `json:"report"`
	Commit   []string  `json:"commit"`
	Title    []string  `json:"title"`
	Value    []float32 `json:"value"`
	Low      []float32 `json:"low"`
	High     []float32 `json:"high"`
	Spread   []float32 `json:"spread"`
	Rounds   []int     `json:"rounds"`
	Baseline []float32 `json:"baseline"`
	Moved    []int     `json:"moved"` // indexes of points to which the baseline moved
	Trust    []string  `json:"trust"`
	Verdict  []string  `json:"verdict"`
}

type chartEvent struct {
	ID    int64 `json:"id"`
	Since int64 `json:"since,omitempty"` // of a drift: it has no place, but a stretch
	At    int64 `json:"at"`
	Worse bool  `json:"worse"`
}

// Data is the series for the script. The template writes it as JSON.
func (s Series) Data() any {
	d := chartData{
		Project: s.Project.Slug, Series: s.Series.ID, Unit: report.Plain(s.Series.Unit), Higher: s.Series.Better == "higher", Thinned: s.Thinned, Buckets: s.Buckets,
		Commits: forgeURL(&s.Project, "/commit/", true), Compare: "/p/" + s.Project.Slug + "/compare",
	}
	if !s.From.IsZero() {
		d.From = s.From.Unix()
	}
	if !s.To.IsZero() {
		d.To = s.To.Unix()
	}
	for _, e := range s.Events {
		one := chartEvent{ID: e.ID, At: e.At.Unix(), Worse: e.Worse}
		if e.Kind == "drift" {
			one.Since = e.Since.Unix()
		}
		d.Events = append(d.Events, one)
	}
	c := &d.Columns
	for i, p := range s.Points {
		c.At, c.Report = append(c.At, p.At.Unix()), append(c.Report, p.Report)
		c.Commit, c.Title = append(c.Commit, short(p.Commit)), append(c.Title, report.Plain(s.Titles[p.Commit]))
		c.Value, c.Low, c.High = append(c.Value, p.Value), append(c.Low, p.Low), append(c.High, p.High)
		c.Spread, c.Rounds, c.Baseline = append(c.Spread, p.Spread), append(c.Rounds, p.Rounds), append(c.Baseline, p.Baseline)
		c.Trust, c.Verdict = append(c.Trust, string(p.Trust)), append(c.Verdict, p.Verdict)
		if p.Moved {
			c.Moved = append(c.Moved, i)
		}
	}
	return d
}

// SeriesList is the series of a project, to browse.
type SeriesList struct {
	Suite, Text string
	Lane        client.Lane
	Suites      []string
	List        []client.Series
	Beds        map[int64]string
	Next        string // query of the next page; empty at the end
}

// Title is the heading.
func (SeriesList) Title() string { return "Series" }
func (SeriesList) tab() string   { return "series" }
