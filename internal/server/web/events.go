package web

import (
	"fmt"
	"html/template"
	"strings"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/words"
)

// Events is the page of causes: each is a group of events at one place in the history, with one answer for all of them.
type Events struct {
	State    client.EventState // shown state; empty means all
	States   []client.EventState
	Worst    bool // largest change first, not newest
	Open     int  // causes without an answer
	Causes   []Card
	CanWrite bool
	Next     string // query of the next page
}

// Title returns the heading.
func (v Events) Title() string {
	switch {
	case v.State != client.EventNew:
		return "Events"
	case v.Open == 0:
		return "Nothing needs an answer"
	case v.Open == 1:
		return "1 cause needs an answer"
	default:
		return fmt.Sprintf("%d causes need an answer", v.Open)
	}
}
func (Events) tab() string { return "events" }

// StateChoice is a state to filter by.
type StateChoice struct {
	Query, Text string
	Current     bool
	Count       int // shown if it is not 0
}

// StateChoices returns the states to filter by.
func (v Events) StateChoices() []StateChoice {
	order := ""
	if v.Worst {
		order = "&order=worst"
	}
	list := []StateChoice{{"?state=new" + order, "To triage", v.State == client.EventNew, v.Open}}
	for _, s := range v.States {
		if s != client.EventNew {
			list = append(list, StateChoice{"?state=" + string(s) + order, firstUpper(strings.ReplaceAll(string(s), "-", " ")), v.State == s, 0})
		}
	}
	return append(list, StateChoice{"?state=all" + order, "All", v.State == "", 0})
}

func firstUpper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// CauseRow is a cause in a list.
type CauseRow struct {
	Card
	Project  *client.Project
	CanWrite bool
	Back     string // the page to return to
}

func rows(cards []Card, p *client.Project, write bool, back string) []CauseRow {
	list := make([]CauseRow, len(cards))
	for i, c := range cards {
		list[i] = CauseRow{c, p, write, back}
	}
	return list
}

// Rows returns the causes of the page.
func (v Events) Rows(p *client.Project, back string) []CauseRow {
	return rows(v.Causes, p, v.CanWrite, back)
}

// Cause is the page of one group: what changed together, and the answers to it.
type Cause struct {
	Card
	Unit     string // of the worst series
	Beds     map[int64]string
	States   []client.EventState
	CanWrite bool
}

// Title returns the heading.
func (c Cause) Title() string {
	worst := c.Worst()
	switch {
	case c.Group.Machine:
		return words.Sanitize(c.Bed) + " changed, not the code"
	case worst.Kind == "drift":
		return words.Sanitize(worst.Name) + " drifted"
	case c.Card.Title != "":
		return words.Sanitize(c.Card.Title)
	default:
		return "Changes at " + short(c.Group.To)
	}
}
func (Cause) tab() string { return "events" }

// Chart draws the history of the worst series.
func (c Cause) Chart() template.HTML {
	return drawHistory(c.Points, []client.Event{c.Worst()}, c.Unit)
}

// Together counts the series of the cause.
func (c Cause) Together() string {
	n := c.Group.Series
	switch better := n - c.Group.Worse; {
	case better == 0:
		return words.Plural(n, "series") + " got worse together"
	case c.Group.Worse == 0:
		return words.Plural(n, "series") + " got better together"
	default:
		return fmt.Sprintf("%s changed together: %d for the worse, %d for the better", words.Plural(n, "series"), c.Group.Worse, better)
	}
}

// Owners returns the owners of all series.
func (c Cause) Owners() []string {
	var list []string
	seen := map[string]bool{}
	for _, e := range c.Group.Events {
		for _, o := range e.Owners {
			if !seen[o] {
				seen[o], list = true, append(list, o)
			}
		}
	}
	return list
}

// Unlisted returns the number of series that the page does not list.
func (c Cause) Unlisted() int { return max(0, c.Group.Series-len(c.Group.Events)) }
