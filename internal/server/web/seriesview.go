package web

import (
	"html/template"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/words"
)

// Series is the page of the history of one case.
type Series struct {
	Project client.Project
	Series  client.Series
	Bed     string
	Points  []client.StoredPoint // thinned out, oldest first
	Thinned bool                 // there are more points
	Events  []client.Event
	Titles  map[string]string // of commits, if known
	From    time.Time         // start of the requested range; zero means all
	To      time.Time
	Buckets int

	States   []client.EventState
	CanWrite bool
}

// Title returns the heading.
func (s Series) Title() string { return words.Sanitize(s.Series.Name) }
func (Series) tab() string     { return "series" }

// Chart draws the history.
func (s Series) Chart() template.HTML { return drawHistory(s.Points, s.Events, s.Series.Unit) }

// Describe describes the chart in words.
func (s Series) Describe() string { return describeHistory(s.Series, s.Points, s.Events) }

// Slower returns the word for a higher value, which differs for times and other metrics.
func (s Series) Slower() string {
	if s.Series.Better == "higher" {
		return "higher is better"
	}
	return "lower is better"
}

// rowsShown is the number of points in the table below a chart: the last ones.
const rowsShown = 50

// Rows returns the last points, newest first.
func (s Series) Rows() []client.StoredPoint {
	var rows []client.StoredPoint
	for i := len(s.Points) - 1; i >= 0 && len(rows) < rowsShown; i-- {
		rows = append(rows, s.Points[i])
	}
	return rows
}

// chartData is the input of the page's script. Points are columns, which makes a page with thousands of
// them a fourth as long.
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
	Commits string       `json:"commits"` // URL prefix of commits; empty means no links
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
	Moved    []int     `json:"moved"` // indexes of points where the baseline moved
	Trust    []string  `json:"trust"`
	Verdict  []string  `json:"verdict"`
}

type chartEvent struct {
	ID    int64 `json:"id"`
	Since int64 `json:"since,omitempty"` // start of a drift, which is a range
	At    int64 `json:"at"`
	Worse bool  `json:"worse"`
}

func newChartEvent(e client.Event) chartEvent {
	one := chartEvent{ID: e.ID, At: e.At.Unix(), Worse: e.Worse}
	if e.Kind == "drift" {
		one.Since = e.Since.Unix()
	}
	return one
}

// Changes returns the events of the series, oldest first.
func (s Series) Changes(p *client.Project, back string) []ChangeRow {
	list := make([]ChangeRow, len(s.Events))
	for i, e := range s.Events {
		list[i] = ChangeRow{Event: e, Number: i + 1, Unit: s.Series.Unit, Title: s.Titles[e.To], Project: p, States: s.States, CanWrite: s.CanWrite, Back: back}
	}
	return list
}

// Data returns the series for the script. The template writes it as JSON.
func (s Series) Data() any {
	d := chartData{
		Project: s.Project.Slug, Series: s.Series.ID, Unit: words.Sanitize(s.Series.Unit), Higher: s.Series.Better == "higher", Thinned: s.Thinned, Buckets: s.Buckets,
		Commits: forgeURL(&s.Project, "/commit/", true), Compare: "/p/" + s.Project.Slug + "/compare",
	}
	if !s.From.IsZero() {
		d.From = s.From.Unix()
	}
	if !s.To.IsZero() {
		d.To = s.To.Unix()
	}
	for _, e := range s.Events {
		d.Events = append(d.Events, newChartEvent(e))
	}
	c := &d.Columns
	for i, p := range s.Points {
		c.At, c.Report = append(c.At, p.At.Unix()), append(c.Report, p.Report)
		c.Commit, c.Title = append(c.Commit, short(p.Commit)), append(c.Title, words.Sanitize(s.Titles[p.Commit]))
		c.Value, c.Low, c.High = append(c.Value, p.Value), append(c.Low, p.Low), append(c.High, p.High)
		c.Spread, c.Rounds, c.Baseline = append(c.Spread, p.Spread), append(c.Rounds, p.Rounds), append(c.Baseline, p.Baseline)
		c.Trust, c.Verdict = append(c.Trust, string(p.Trust)), append(c.Verdict, p.Verdict)
		if p.Moved {
			c.Moved = append(c.Moved, i)
		}
	}
	return d
}
