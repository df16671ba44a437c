package server

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/web"
)

// Limits of an overview page.
const (
	cardsShown   = 24
	cardPoints   = 160 // minimum; more if the overview covers a longer time
	bedsShown    = 8
	bedReadings  = 120
	suitesListed = 50
)

func (s *Server) projectsPage(r *http.Request) (web.View, error) {
	account, all, err := s.whoSees(r)
	if err != nil {
		return nil, err
	}
	list, err := s.store.Projects(r.Context(), account, all)
	if err != nil {
		return nil, err
	}
	var v web.Projects
	for _, p := range list {
		v.List = append(v.List, p.Project)
	}
	return v, nil
}

// whoSees returns the account whose projects are listed. An admin of the server sees all.
func (s *Server) whoSees(r *http.Request) (account int64, all bool, err error) {
	v, err := s.viewer(r)
	if err == nil {
		account, all = v.sees()
	}
	return account, all, err
}

func (s *Server) overviewPage(r *http.Request, p store.Project) (web.View, error) {
	q := choices(r, "days", "forks")
	days, forks := q.number("days", 1, 366, 7), q.text("forks") == "1"
	if q.err != nil {
		return nil, q.err
	}
	ctx := r.Context()
	since := s.now().AddDate(0, 0, -days)
	o, err := s.store.Overview(ctx, p.ID, since, forks)
	if err != nil {
		return nil, err
	}
	latestFirst(o.Latest)
	v := web.Overview{Project: p.Project, Days: days, Forks: forks, Since: since, Worse: o.Moved.Worse, Better: o.Moved.Better, Open: o.Open, Series: o.Series, Runs: o.Latest, Beds: bedNames(o.Testbeds)}
	if v.CanWrite, err = s.may(r, p, Write); err != nil {
		return nil, err
	}
	if v.Suites, err = s.store.Suites(ctx, p.ID); err != nil {
		return nil, err
	}
	v.Suites = v.Suites[:min(len(v.Suites), suitesListed)]
	if v.Moved, err = s.cards(ctx, p, o.Groups[:min(len(o.Groups), cardsShown)], v.Beds, cardPoints+3*days); err != nil {
		return nil, err
	}
	for _, b := range o.Testbeds[:min(len(o.Testbeds), bedsShown)] {
		bed, err := s.bed(ctx, p, b, time.Time{}, bedReadings)
		if err != nil {
			return nil, err
		}
		v.Testbeds = append(v.Testbeds, bed)
	}
	return v, nil
}

// cards builds the summary cards of groups.
func (s *Server) cards(ctx context.Context, p store.Project, groups []client.Group, beds map[int64]string, last int) ([]web.Card, error) {
	var ids []int64
	var shas []string
	for _, g := range groups {
		if len(g.Events) > 0 {
			ids, shas = append(ids, g.Events[0].Series), append(shas, g.Events[0].To)
		}
	}
	slices.Sort(ids)
	tails, err := s.store.NewestPoints(ctx, p.ID, slices.Compact(ids), last)
	if err != nil {
		return nil, err
	}
	told, err := s.store.Revisions(ctx, p.ID, shas)
	if err != nil {
		return nil, err
	}
	var cards []web.Card
	for _, g := range groups {
		if len(g.Events) == 0 {
			continue
		}
		worst := g.Events[0]
		cards = append(cards, web.Card{
			Group: g, Title: told[worst.To].Title, Author: told[worst.To].Author, Bed: beds[worst.Testbed], Points: tails[worst.Series],
		})
	}
	return cards, nil
}

func bedNames(list []client.Testbed) map[int64]string {
	names := make(map[int64]string, len(list))
	for _, b := range list {
		names[b.ID] = web.TestbedName(b.Facts)
	}
	return names
}

// beds returns the names of all testbeds of a project.
func (s *Server) beds(ctx context.Context, p store.Project) (map[int64]string, error) {
	list, err := s.store.Testbeds(ctx, p.ID)
	return bedNames(list), err
}

// titles returns the titles of commits.
func (s *Server) titles(ctx context.Context, p store.Project, shas []string) (map[string]string, error) {
	told, err := s.store.Revisions(ctx, p.ID, shas)
	titles := make(map[string]string, len(told))
	for sha, c := range told {
		titles[sha] = c.Title
	}
	return titles, err
}
