package web

import (
	"fmt"
	"html/template"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/report"
)

// Projects are those a visitor may see.
type Projects struct {
	List []client.Project
}

// Title is the heading.
func (Projects) Title() string { return "Projects" }
func (Projects) tab() string   { return "" }

// Overview is what moved lately in a project, the worst first, and how its machines are.
type Overview struct {
	Project  client.Project
	Days     int  // that it looks back
	Forks    bool // whether runs of forks are shown among the latest
	Since    time.Time
	Moved    []Card
	Open     int // events that nobody looked at
	Series   int
	Suites   []string
	Testbeds []Bed
	Runs     []client.Run
	Beds     map[int64]string // names of testbeds
}

// Title is the heading.
func (o Overview) Title() string { return report.Plain(o.Project.Name) }
func (Overview) tab() string     { return "overview" }

// Sentence says what happened for who reads no further.
func (o Overview) Sentence() string {
	worse, better, machines := 0, 0, 0
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
	within := fmt.Sprintf(" in the last %d days", o.Days)
	if o.Days == 1 {
		within = " in the last day"
	}
	if len(o.Moved) == 0 {
		return "Nothing moved" + within + "."
	}
	var parts []string
	for _, p := range []struct {
		n    int
		text string
	}{{worse, "for the worse"}, {better, "for the better"}, {machines, "by a machine"}} {
		if p.n > 0 {
			parts = append(parts, report.Plural(p.n, "change")+" "+p.text)
		}
	}
	return strings.ToUpper(parts[0][:1]) + strings.Join(parts, ", ")[1:] + within + "."
}

// Place is where the cause of an event is: at a commit, or for a drift somewhere on the way
// between two.
type Place struct {
	Project       *client.Project
	Event         client.Event
	Title, Author string // of the commit
}

func newPlace(p *client.Project, e client.Event, title, author string) Place {
	return Place{p, e, title, author}
}

// Crept tells that no single commit did it.
func (p Place) Crept() bool { return p.Event.Kind == "drift" }

// URL leads to the commit, or to all of them.
func (p Place) URL() string {
	if p.Crept() {
		return betweenURL(p.Project, p.Event.From, p.Event.To)
	}
	return commitURL(p.Project, p.Event.To)
}

// Card is one thing that happened, in however many series.
type Card struct {
	Group  client.Group
	Title  string // of the commit it came with; empty where nobody told
	Author string
	Bed    string        // of its worst series
	Points []client.Kept // of the worst series, around it
}

// Worst is the largest change of the card.
func (c Card) Worst() client.Event {
	if len(c.Group.Events) == 0 {
		return client.Event{}
	}
	return c.Group.Events[0]
}

// Others are further series that moved, as many as a card has room for.
func (c Card) Others() []client.Event {
	if len(c.Group.Events) < 2 {
		return nil
	}
	return c.Group.Events[1:min(len(c.Group.Events), 5)]
}

// More counts the series that the card does not name.
func (c Card) More() int { return max(0, c.Group.Series-1-len(c.Others())) }

// Spark is the history around the change.
func (c Card) Spark() template.HTML {
	worst := c.Worst()
	return spark(c.Points, &worst)
}

// Describe says what the spark shows.
func (c Card) Describe() string {
	e := c.Worst()
	if e.Kind == "drift" {
		return fmt.Sprintf("%s crept from %s to %s", report.Plain(e.Name), day(e.Since), day(e.At))
	}
	return fmt.Sprintf("%s on %s", report.Plain(e.Name), day(e.At))
}
