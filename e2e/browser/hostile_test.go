package browser_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/eventstore"
	"github.com/goatnote-inc/pawl/measure"
)

// Whatever a stranger calls things, it stays text: 200 payloads in every text field of
// reports, looked at in a browser. No dialog, no word of the policy, no element that was
// made of data.
func TestHostileNames(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a browser")
	}
	s := newSite(t)
	all := payloads()
	if len(all) != 200 {
		t.Fatalf("%d payloads", len(all))
	}
	for i, p := range all { // what PostgreSQL cannot keep never gets this far
		all[i] = strings.ReplaceAll(p, "\x00", "")
	}
	hostile := s.project
	hostile.Name, hostile.Repository = all[0], "javascript:alert(document.domain)"
	if err := s.store.UpdateProject(t.Context(), hostile); err != nil {
		t.Fatal(err)
	}
	var runs []int64
	for i := range 20 {
		runs = append(runs, s.ingest(t, hostileReport(all, i)).Report)
	}
	for n := range 60 { // a history with a change in it, so that there are events
		s.ingest(t, hostileHistory(all, n))
	}
	s.look(t)
	s.note(t, all)
	s.hostileFleet(t, all)

	pages := []string{"/", "/p/kernels?days=90", "/p/kernels/events?state=all", fmt.Sprintf("/p/kernels/groups/%d", s.someGroup(t)), "/p/kernels/runs", "/p/kernels/series?lane=branch", "/p/kernels/testbeds/1", "/p/kernels/fleet", "/p/kernels/nothing?x=" + url.QueryEscape(all[1])}
	for _, id := range runs {
		pages = append(pages, fmt.Sprintf("/p/kernels/runs/%d", id))
	}
	suites, err := s.store.Suites(t.Context(), s.project.ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, suite := range suites[:3] {
		pages = append(pages, "/p/kernels/suites/"+url.PathEscape(suite))
	}
	list, err := s.store.SeriesList(t.Context(), s.project.ID, store.SeriesQuery{Lane: client.Main})
	if err != nil {
		t.Fatal(err)
	}
	for i, one := range list {
		if i < 4 || one.Suite == "history" {
			pages = append(pages, fmt.Sprintf("/p/kernels/series/%d", one.ID))
		}
	}
	link, _, err := s.store.NewLink(t.Context(), s.project.ID, store.Link{Series: list[0].ID, Name: "hostile", Expires: now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	pages = append(pages, "/s/"+link)
	for i := 0; i < len(all); i += 25 {
		pages = append(pages, "/search?q="+url.QueryEscape(all[i]))
	}
	pages = append(pages, "/p/kernels/series?order=worst&days=90", fmt.Sprintf("/p/kernels/compare?a=run-%d&b=run-%d", runs[0], runs[1]))
	var ids []string
	for _, one := range list[:8] {
		ids = append(ids, fmt.Sprint(one.ID))
	}
	pages = append(pages, "/p/kernels/chart?days=0&by=commit&series="+strings.Join(ids, ","))
	s.everyPayloadIsShown(t, all, pages)
	tell(t, browse(t, "hostile.mjs", map[string]any{"url": s.url, "pages": pages}))
}

// hostileReport is one of 20; its ten cases have a payload each, and so has every text
// around them.
func hostileReport(all []string, n int) *client.Report {
	text := func(k int) string { return all[(n*10+k*7)%len(all)] }
	at := now.Add(-time.Duration(100-n) * time.Hour)
	r := &client.Report{
		Schema: client.SchemaReport, Run: fmt.Sprintf("01HOSTILE%017d", n), Measured: at, Pawl: text(1), Suite: text(2),
		Commit: client.Commit{SHA: fmt.Sprintf("%040x", n+1), At: &at, Author: text(3), Title: text(4)}, Branch: text(5),
		Trust: measure.Trusted, Device: gpu.Identity{Kind: gpu.NVIDIA, Name: text(6), Driver: text(7)},
		Testbed: measure.Testbed{Kind: gpu.NVIDIA, Device: text(6), Driver: text(7), ECC: text(8), MIG: text(9)},
		Health:  client.Health{Reasons: []string{text(10), text(11)}, TemperatureC: 50, SMClockMHz: 1000}, Verdict: "regression", Sentence: text(12),
	}
	for i := range 10 {
		r.Points = append(r.Points, client.Point{
			CaseKey: measure.CaseKey{Benchmark: all[n*10+i], Config: text(i + 13), Implementation: measure.Candidate}, Unit: text(i + 14), Timer: measure.TimerDevice,
			Value: 10, Low: 9, High: 11, Spread: 0.1, Rounds: 4, Path: text(i + 15), Owners: []string{text(i + 16)},
		})
	}
	return r
}

// hostileHistory is one of 60 runs, in which the cases get slower halfway.
func hostileHistory(all []string, n int) *client.Report {
	at := now.Add(-time.Duration(90-n) * time.Hour)
	r := hostileReport(all, n%20)
	r.Run, r.Suite, r.Measured = fmt.Sprintf("01HISTORY%017d", n), "history", at
	r.Commit = client.Commit{SHA: fmt.Sprintf("%040x", 1000+n), At: &at, Author: all[n], Title: all[100+n]}
	r.Device, r.Testbed = gpu.Identity{Name: all[60]}, measure.Testbed{Device: all[60]}
	r.Points = nil
	for i := range 6 {
		value := 100 + float64((n*7+i*3)%5)/10
		if n >= 30 {
			value *= 1.2
		}
		r.Points = append(r.Points, client.Point{
			CaseKey: measure.CaseKey{Benchmark: all[150+i], Implementation: measure.Candidate}, Unit: all[160+i], Value: value, Low: value - 1, High: value + 1, Rounds: 4, Owners: []string{all[170+i]},
		})
	}
	return r
}

// note says of events what somebody hostile would.
func (s *site) note(t *testing.T, all []string) {
	t.Helper()
	events, err := s.store.Events(t.Context(), s.project.ID, eventstore.Query{})
	if err != nil {
		t.Fatal(err)
	}
	if len(events) == 0 {
		t.Fatal("no event was found in the history")
	}
	for i, e := range events {
		if err := s.store.ChangeEvent(t.Context(), s.project.ID, e, client.EventAcknowledged, all[180+i]); err != nil {
			t.Fatal(err)
		}
	}
}

// everyPayloadIsShown makes sure that the browser has something to look at.
func (s *site) everyPayloadIsShown(t *testing.T, all, pages []string) {
	t.Helper()
	var shown strings.Builder
	for _, page := range pages {
		shown.WriteString(fetch(t, s.url+page))
	}
	text := strings.NewReplacer("&lt;", "<", "&gt;", ">", "&#34;", `"`, "&#39;", "'", "&amp;", "&", "&#43;", "+").Replace(shown.String())
	for _, p := range all {
		// Directions and line ends are taken out before a name is shown.
		if want := strings.NewReplacer("\u202e", "", "\u2028", "").Replace(p); !strings.Contains(text, want) && !strings.Contains(text, strings.TrimSpace(strings.ReplaceAll(p, "\u2028", " "))) {
			t.Errorf("no page shows %q", p)
		}
	}
}
