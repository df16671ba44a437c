package web

import (
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/report"
)

// Events are what was found, and what people made of it.
type Events struct {
	State    client.EventState // that is shown; empty for all
	States   []client.EventState
	List     []client.Event
	Beds     map[int64]string
	Titles   map[string]string
	CanWrite bool
	Next     string // query of the next page
}

// Title is the heading.
func (Events) Title() string { return "Events" }
func (Events) tab() string   { return "events" }

// EventCard is one event with what stands around it.
type EventCard struct {
	client.Event
	Place    Place
	Bed      string
	States   []client.EventState
	CanWrite bool
	Back     string // the page to come back to
	Level    int    // of its heading
}

// EventGroup is what moved together, as far as it is on the page.
type EventGroup struct {
	ID     int64
	Events []EventCard
}

// Many tells that there is something to say of all of them at once.
func (g EventGroup) Many() bool { return len(g.Events) > 1 }

// Heading says what they have in common.
func (g EventGroup) Heading() string {
	first := g.Events[0]
	text := fmt.Sprintf("%s moved together on %s", report.Plural(len(g.Events), "series"), day(first.At))
	if first.Machine {
		return text + ": it was the machine"
	}
	return text
}

// Together gathers the events by what they have in common, in the order of the list.
func (v Events) Together(p *client.Project, back string) []EventGroup {
	var groups []EventGroup
	for _, e := range v.List {
		card := EventCard{
			Event: e, Place: newPlace(p, e, v.Titles[e.To], ""), Bed: v.Beds[e.Testbed], States: v.States, CanWrite: v.CanWrite, Back: back, Level: 2,
		}
		i := slices.IndexFunc(groups, func(g EventGroup) bool { return g.ID != 0 && g.ID == e.Group })
		if i < 0 {
			groups = append(groups, EventGroup{ID: e.Group})
			i = len(groups) - 1
		}
		groups[i].Events = append(groups[i].Events, card)
	}
	for _, g := range groups {
		for i := range g.Events {
			if g.Many() {
				g.Events[i].Level = 3
			}
		}
	}
	return groups
}
