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
	Open     int // unreviewed events
	Series   int
	Suites   []string
	Testbeds []TestbedHealth
	Runs     []client.Run
	Beds     map[int64]string // names of testbeds
}

// Title returns the heading.
func (o Overview) Title() string { return words.Sanitize(o.Project.Name) }
func (Overview) tab() string     { return "overview" }

// Sentence summarizes what happened in one sentence.
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
		return "Nothing changed" + within + "."
	}
	var parts []string
	for _, p := range []struct {
		n    int
		text string
	}{{worse, "for the worse"}, {better, "for the better"}, {machines, "caused by a machine"}} {
		if p.n > 0 {
			parts = append(parts, words.Plural(p.n, "change")+" "+p.text)
		}
	}
	return strings.ToUpper(parts[0][:1]) + strings.Join(parts, ", ")[1:] + within + "."
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

// Others returns further series that changed, as many as fit on a card.
func (c Card) Others() []client.Event {
	if len(c.Group.Events) < 2 {
		return nil
	}
	return c.Group.Events[1:min(len(c.Group.Events), 5)]
}

// More returns the number of series that the card does not name.
func (c Card) More() int { return max(0, c.Group.Series-1-len(c.Others())) }

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
