package web

import (
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/words"
)

// Events is the page of events and their states.
type Events struct {
	State    client.EventState // shown state; empty means all
	States   []client.EventState
	List     []client.Event
	Beds     map[int64]string
	Titles   map[string]string
	CanWrite bool
	Next     string // query of the next page
}

// Title returns the heading.
func (Events) Title() string { return "Events" }
func (Events) tab() string   { return "events" }

// EventCard is one event with its context.
type EventCard struct {
	client.Event
	Place    ChangeLocation
	Bed      string
	States   []client.EventState
	CanWrite bool
	Back     string // the page to return to
	Level    int    // heading level
}

// EventGroup holds the events of a group that are on the page.
type EventGroup struct {
	ID     int64
	Events []EventCard
}

// Many reports whether the group has more than one event, so that it gets a form for all of them.
func (g EventGroup) Many() bool { return len(g.Events) > 1 }

// Heading describes what the events have in common.
func (g EventGroup) Heading() string {
	first := g.Events[0]
	text := fmt.Sprintf("%s changed together on %s", words.Plural(len(g.Events), "series"), day(first.At))
	if first.Machine {
		return text + ": the cause was the machine"
	}
	return text
}

// Together groups the events, in the order of the list.
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
