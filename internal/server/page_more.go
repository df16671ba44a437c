package server

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/eventstore"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
	"github.com/goatnote-inc/pawl/internal/server/web"
	"github.com/goatnote-inc/pawl/measure"
)

// testbedReadings is the number of runs that a testbed's page uses.
const testbedReadings = 1_000

func (s *Server) testbedPage(r *http.Request, p store.Project) (web.View, error) {
	id, err := idOf(r, "id")
	if err != nil {
		return nil, err
	}
	ctx := r.Context()
	facts, err := s.store.Testbed(ctx, p.ID, id)
	if err != nil {
		return nil, err
	}
	var v web.Testbed
	if v.Bed, err = s.bed(ctx, p, facts, time.Time{}, testbedReadings); err != nil {
		return nil, err
	}
	groups, err := s.store.Groups(ctx, p.ID, eventstore.GroupQuery{Limit: listMost})
	if err != nil {
		return nil, err
	}
	v.Moved = slices.DeleteFunc(groups, func(g client.Group) bool { return !g.Machine || g.Testbed != id })
	if v.Runs, err = s.store.Runs(ctx, p.ID, store.RunQuery{Testbed: id, Limit: 15}); err != nil {
		return nil, err
	}
	v.Cards, err = s.testbedCards(ctx, facts.Facts)
	return v, err
}

// testbedCards returns the cards of the fleet that were calibrated as this testbed: with its model, by their name, and its driver.
func (s *Server) testbedCards(ctx context.Context, t measure.Testbed) (list []web.FleetCard, err error) {
	if s.fleet == nil || t.Kind == gpu.CPU {
		return nil, nil
	}
	devices, err := fleetstore.New(s.store.DB()).Devices(ctx, job.ModelOf(t.Device))
	for _, d := range devices {
		if c := card(d, placer.View{}, false); c.Calibration != nil && d.Calibration.Driver == t.Driver {
			list = append(list, c)
		}
	}
	return list, err
}

// bed returns a testbed with its health during its last runs. It ignores reports of forks: they are
// unverified, and may come from another machine of the same kind.
func (s *Server) bed(ctx context.Context, p store.Project, facts client.Testbed, since time.Time, most int) (web.TestbedHealth, error) {
	list, err := s.store.TestbedHistory(ctx, p.ID, facts.ID, since, most)
	bed := web.TestbedHealth{Testbed: facts}
	bed.Readings = slices.DeleteFunc(list, func(c client.HealthRecord) bool { return c.Lane == client.Fork })
	return bed, err
}

// heatPage shows the heat map of a suite; without a name, of the first one.
func (s *Server) heatPage(r *http.Request, p store.Project) (web.View, error) {
	q := choices(r, "testbed", "numbers", "commits", "implementation")
	v := web.Heat{Suite: r.PathValue("suite"), Numbers: q.text("numbers") == "1"}
	want := store.HeatQuery{Testbed: q.id("testbed"), Commits: q.number("commits", 1, store.MostHeatCommits, 0), Implementation: q.text("implementation")}
	if q.err != nil {
		return nil, q.err
	}
	ctx := r.Context()
	var err error
	if v.Suites, err = s.store.Suites(ctx, p.ID); err != nil {
		return nil, err
	}
	if v.Suite == "" && len(v.Suites) > 0 {
		v.Suite = v.Suites[0]
	}
	if v.Beds, err = s.store.Testbeds(ctx, p.ID); err != nil {
		return nil, err
	}
	if !slices.Contains(v.Suites, v.Suite) {
		if r.PathValue("suite") == "" {
			return v, nil // no reports yet
		}
		return nil, problem(http.StatusNotFound, "not-found", "there is no such suite")
	}
	want.Suite = v.Suite
	heat, err := s.store.Heat(ctx, p.ID, want)
	if err != nil {
		return nil, err
	}
	v.Bed, v.Columns = heat.Testbed, heat.Commits
	for _, row := range heat.Rows {
		cells := make([]web.HeatCell, len(row.Values))
		for i, value := range row.Values {
			cells[i] = web.HeatCell{Value: float64(value)}
		}
		v.Rows = append(v.Rows, web.HeatRow{Series: row.Series, Cells: cells})
	}
	v.Level()
	return v, nil
}

// searchCost is the cost of a search to its address, in requests: it searches the names of many projects.
const searchCost = 20

func (s *Server) searchPage(r *http.Request) (web.View, error) {
	text := r.URL.Query().Get("q")
	if len(text) > 200 {
		return nil, badRequest("the search text is longer than 200 bytes")
	}
	s.buckets.spend("ip "+requestInfoOf(r).from.String(), s.limits.PerAddress, searchCost)
	account, all, err := s.whoSees(r)
	if err != nil {
		return nil, err
	}
	v := web.Search{Text: text}
	hits, err := s.store.Search(r.Context(), account, all, text)
	if err != nil {
		return nil, err
	}
	for _, h := range hits {
		where := "/p/" + url.PathEscape(h.Project)
		switch h.Kind {
		case "series":
			where += fmt.Sprintf("/series/%d", h.ID)
		case "run":
			where += fmt.Sprintf("/runs/%d", h.ID)
		case "commit":
			where += "/runs?commit=" + url.QueryEscape(h.Name)
		}
		v.Hits = append(v.Hits, web.Hit{Kind: h.Kind, Project: h.Project, Text: h.Name, Detail: h.Project + ", " + h.Detail, URL: where})
	}
	return v, nil
}

func (s *Server) loginPage(r *http.Request) (web.View, error) {
	if s.login == nil {
		return web.Login{}, nil
	}
	issuer, err := url.Parse(s.login.Issuer)
	if err != nil {
		return nil, err
	}
	return web.Login{Start: "/login/start?next=" + url.QueryEscape(ownPath(r.URL.Query().Get("back"))), Name: issuer.Host}, nil
}
