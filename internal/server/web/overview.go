package web

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/words"
)

// Projects is the page of the projects that a user may see.
type Projects struct {
	List []client.Project
}

// Title returns the heading.
func (Projects) Title() string { return "Projects" }
func (Projects) tab() string   { return "" }

// Overview is the page of recent changes in a project, worst first, and of the health of its machines.
type Overview struct {
	Project  client.Project
	Days     int  // period covered
	Forks    bool // include runs of forks in the latest
	Since    time.Time
	Moved    []Card
	Worse    int // series that got worse
	Better   int
	Open     int // causes without an answer
	CanWrite bool
	Series   int
	Suites   []string
	Testbeds []TestbedHealth
	Runs     []client.Run
	Beds     map[int64]string // names of testbeds
}

// Title summarizes what happened.
func (o Overview) Title() string {
	worse, better, machines := o.causes()
	var parts []string
	for _, p := range []struct {
		n    int
		text string
	}{{worse, "for the worse"}, {better, "for the better"}, {machines, "caused by a machine"}} {
		switch {
		case p.n == 0:
		case len(parts) == 0:
			parts = append(parts, words.Plural(p.n, "change")+" "+p.text)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.text))
		}
	}
	if len(parts) == 0 {
		return "Nothing changed"
	}
	return strings.Join(parts, ", ")
}
func (Overview) tab() string { return "overview" }

// Empty reports whether the project has no data yet.
func (o Overview) Empty() bool { return o.Series == 0 && len(o.Runs) == 0 && len(o.Moved) == 0 }

// Lead says which period the page covers, and what is watched.
func (o Overview) Lead() string {
	within := fmt.Sprintf("In the last %d days", o.Days)
	if o.Days == 1 {
		within = "In the last day"
	}
	return fmt.Sprintf("%s. pawl watches %s on %s.", within, words.Plural(o.Series, "series"), words.Plural(len(o.Beds), "testbed"))
}

// causes counts the causes by their kind.
func (o Overview) causes() (worse, better, machines int) {
	for _, c := range o.Moved {
		switch {
		case c.Group.Machine:
			machines++
		case c.Worst().Worse:
			worse++
		default:
			better++
		}
	}
	return worse, better, machines
}

// Figures returns the page in numbers.
func (o Overview) Figures() []Figure {
	worse, better, _ := o.causes()
	fit, known := 0, 0
	for _, b := range o.Testbeds {
		switch b.Health().Word {
		case healthy:
			fit++
			known++
		case suspect:
			known++
		}
	}
	list := []Figure{
		{"Worse", o.Worse, "regression", "series, " + words.Plural(worse, "cause"), o.largest(true)},
		{"Better", o.Better, "improvement", "series, " + words.Plural(better, "cause"), o.largest(false)},
		{"To triage", o.Open, "", words.Plural(o.Open, "cause")[len(fmt.Sprint(o.Open))+1:], ""},
	}
	if known > 0 {
		list = append(list, Figure{"Testbeds fit to judge", fit, "", fmt.Sprintf("of %d", known), ""})
	}
	return list
}

// largest describes the largest change in one direction.
func (o Overview) largest(worse bool) string {
	for _, c := range o.Moved {
		if e := c.Worst(); e.Worse == worse && !c.Group.Machine {
			return fmt.Sprintf("up to %s, %s", Change(e.Change), words.Sanitize(e.Name))
		}
	}
	return ""
}

// Figure is a number of the overview with its meaning.
type Figure struct {
	Name  string
	Value int
	Class string // of its color; none if the value is 0
	Unit  string
	About string
}

// Rows returns the causes of the page.
func (o Overview) Rows(p *client.Project, back string) []CauseRow {
	return rows(o.Moved, p, o.CanWrite, back)
}

// ChangeLocation is where the cause of an event is: a commit, or for a drift a range between two commits.
type ChangeLocation struct {
	Project       *client.Project
	Event         client.Event
	Title, Author string // of the commit
}

func newPlace(p *client.Project, e client.Event, title, author string) ChangeLocation {
	return ChangeLocation{p, e, title, author}
}

// Crept reports whether the change is a drift, without a single commit as its cause.
func (p ChangeLocation) Crept() bool { return p.Event.Kind == "drift" }

// URL returns the link to the commit, or to the range of commits.
func (p ChangeLocation) URL() string {
	if p.Crept() {
		return betweenURL(p.Project, p.Event.From, p.Event.To)
	}
	return commitURL(p.Project, p.Event.To)
}

// Card is one change, in any number of series.
type Card struct {
	Group  client.Group
	Title  string // of its commit; empty if unknown
	Author string
	Bed    string               // of its worst series
	Points []client.StoredPoint // of the worst series, around it
}

// Worst returns the largest change of the card.
func (c Card) Worst() client.Event {
	if len(c.Group.Events) == 0 {
		return client.Event{}
	}
	return c.Group.Events[0]
}

// More returns the number of series beside the worst one.
func (c Card) More() int { return max(0, c.Group.Series-1) }

// Class returns the CSS class of the cause.
func (c Card) Class() string {
	switch e := c.Worst(); {
	case c.Group.Machine:
		return "machine"
	case e.Kind == "drift":
		return "drift"
	default:
		return changeClass(e.Worse)
	}
}

// Word names the kind of cause.
func (c Card) Word() string {
	switch e := c.Worst(); {
	case c.Group.Machine:
		return "Machine"
	case e.Kind == "drift":
		return "Drift"
	case e.Worse:
		return "Worse"
	default:
		return "Better"
	}
}

// Spark draws the history around the change.
func (c Card) Spark() template.HTML {
	worst := c.Worst()
	return spark(c.Points, &worst)
}

// Describe describes the spark in words.
func (c Card) Describe() string {
	e := c.Worst()
	if e.Kind == "drift" {
		return fmt.Sprintf("%s drifted from %s to %s", words.Sanitize(e.Name), day(e.Since), day(e.At))
	}
	return fmt.Sprintf("%s on %s", words.Sanitize(e.Name), day(e.At))
}
