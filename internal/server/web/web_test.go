package web_test

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"html/template"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/internal/server/web"
	"github.com/goatnote-inc/pawl/measure"
)

var (
	day     = time.Date(2026, 5, 4, 9, 30, 0, 0, time.UTC)
	project = client.Project{Slug: "kernels", Name: "Kernels", Public: true, Repository: "https://forge.example/demo/kernels", Branch: "main", Created: day}
	series  = client.Series{
		ID: 7, CaseKey: measure.CaseKey{Benchmark: "matmul", Config: "N512", Implementation: "candidate"}, Name: "matmul/N512", Suite: "blocks", Testbed: 2,
		Lane: client.Main, Unit: "ns", Path: "kernels/matmul.cu", Owners: []string{"@demo/blocks"}, Points: 4, Last: 1100, LastAt: day.AddDate(0, 0, 3), Noise: 0.004,
	}
	event = client.Event{
		ID: 3, Series: 7, Name: "matmul/N512", Kind: "step", Worse: true, From: sha(1), To: sha(2), At: day.AddDate(0, 0, 2), Since: day.AddDate(0, 0, 1),
		Before: 1000, After: 1100, Change: 0.1, Testbed: 2, Owners: []string{"@demo/blocks"}, State: client.EventNew, Group: 1, Detected: day.AddDate(0, 0, 3),
	}
	bed = client.Testbed{ID: 2, Key: "4f2a", Facts: measure.Testbed{Kind: gpu.NVIDIA, Device: "NVIDIA L4", Driver: "570", Clocks: gpu.ClockPolicy{Mode: gpu.ClocksFree}}, Timer: measure.TimerDevice, First: day}
	run = client.Run{
		ID: 11, Run: "01J00000000000000000000000", Suite: "blocks", Measured: day, Received: day, At: day, Commit: sha(2), Branch: "main", Lane: client.Main, Trust: measure.Checked,
		Testbed: 2, Health: client.Health{TemperatureC: 60, SMClockMHz: 1500, Noise: 0.004, Seconds: 90, Reasons: []string{"power cap"}}, Verdict: "regression", Sentence: "1 of 1 cases is slower.", Points: 1,
	}
)

func sha(n int) string { return fmt.Sprintf("%040x", n+0xabc0000) }

func points() []client.StoredPoint {
	var list []client.StoredPoint
	for i, v := range []float32{1000, 1001, 1102, 1100} {
		list = append(list, client.StoredPoint{At: day.AddDate(0, 0, i), Report: int64(10 + i), Commit: sha(i), Value: v, Low: v - 5, High: v + 5, Spread: 0.004, Rounds: 10, Baseline: 1000, Moved: i == 0, Trust: measure.Checked, Verdict: "maintained"})
	}
	return list
}

func readings(n int, change func(i int, h *client.Health)) []client.HealthRecord {
	var list []client.HealthRecord
	for i := range n {
		r := client.HealthRecord{Run: int64(i + 1), Measured: day.Add(time.Duration(i) * time.Hour), Health: client.Health{TemperatureC: 60, SMClockMHz: 1500, Calibration: 400_000 + float64(i%3)*100, Noise: 0.004}}
		if change != nil {
			change(i, &r.Health)
		}
		list = append(list, r)
	}
	return list
}

// views are every page with little on it.
func views() map[string]web.View {
	beds := map[int64]string{2: "NVIDIA L4"}
	side := func(i int) web.Side {
		return web.Side{Series: series, Bed: "NVIDIA L4", Point: points()[i], Run: run, Title: "matmul: widen the tile"}
	}
	heat := web.Heat{Suite: "blocks", Suites: []string{"attention", "blocks"}, Bed: 2, Beds: []client.Testbed{bed}, Numbers: true}
	row := web.HeatRow{Series: series}
	for i, p := range points() {
		heat.Columns = append(heat.Columns, client.HeatColumn{Commit: sha(i), Title: "a title", At: p.At, Run: p.Report})
		row.Cells = append(row.Cells, web.HeatCell{Value: float64(p.Value)})
	}
	row.Cells[1].Value = 0
	heat.Rows = []web.HeatRow{row}
	heat.Level()
	return map[string]web.View{
		"projects": web.Projects{List: []client.Project{project}},
		"overview": web.Overview{
			Project: project, Days: 7, Worse: 1, Open: 1, Series: 1, Suites: []string{"blocks"}, Runs: []client.Run{run}, Beds: beds, Testbeds: []web.TestbedHealth{{Testbed: bed, Readings: readings(40, nil)}},
			Moved: []web.Card{cause(event)},
		},
		"first-run": web.Overview{Project: project, Days: 7},
		"series":    web.Series{Project: project, Series: series, Bed: "NVIDIA L4", Points: points(), Events: []client.Event{event}, Titles: map[string]string{sha(2): "matmul: widen the tile"}, Buckets: 500},
		"series-list": web.SeriesList{
			Lane: client.Main, Order: "worst", Days: 30, Changed: 1, Suites: []string{"blocks"}, Beds: beds, Next: "?cursor=x",
			List: []web.SeriesRow{{Series: series, Change: event, Points: points()}, {Series: otherSeries(), Points: points()}},
		},
		"chart":        web.Chart{Project: project, Lines: []web.ChartLine{{Series: series, Bed: "NVIDIA L4", Points: points()}, {Series: otherSeries(), Bed: "NVIDIA H100", Points: points()[1:]}}, Days: 90, Events: []client.Event{event}, States: states, CanWrite: true},
		"compare-runs": compared(),
		"settings": web.Settings{
			Project: project, SampleDays: 30, CanLogin: true, Keys: []web.Key{{ID: 1, Name: "ci", Prefix: "pawl_ab", Scopes: []string{"report"}, CreatedBy: "account 1", Created: day}, {ID: 2, Name: "old", Revoked: true}},
			Members: []web.Member{{Account: 4, Name: "ada", Subject: "ada", Role: "writer"}}, Hooks: []web.Hook{{ID: 5, Kind: "slack", URL: "https://forge.example/...", Created: day}},
		},
		"new-key": web.NewKey{Name: "ci", Text: "pawl_abcdef"},
		"compare": web.Compare{A: side(0), B: side(2), Alike: true, Sentence: "A took 1.000 us, B 1.102 us.", Missing: "The samples were not sent."},
		"run":     web.Run{Project: project, Run: run, Bed: "NVIDIA L4", Commit: "matmul: widen the tile", Author: "lin", Points: []client.RunPoint{{Series: series, Point: points()[2]}}, Why: "The record was not sent."},
		"runs":    web.Runs{List: []client.Run{run}, Beds: beds, Lane: "main", Live: []client.LiveRun{live()}},
		"live":    web.Live{LiveRun: live()},
		"testbed": web.Testbed{Bed: web.TestbedHealth{Testbed: bed, Readings: readings(40, nil)}, Runs: []client.Run{run}, Cards: []web.FleetCard{{FleetDevice: client.FleetDevice{ID: "GPU-<b>1", Power: "ready", Calibration: &client.Calibration{At: day, Noise: 0.0042, Smallest: 0.011}, Calibrations: 40, FalseAlarms: 1}}}},
		"heat":    heat,
		"events":  web.Events{State: client.EventNew, States: states, Open: 3, Causes: []web.Card{cause(event, beside(event)), cause(crept(event)), machine(event)}, CanWrite: true, Next: "?cursor=x"},
		"cause":   web.Cause{Card: cause(event, beside(event)), Unit: "ns", Beds: beds, States: states, CanWrite: true},
		"search":  web.Search{Text: "mat", Hits: []web.Hit{{Kind: "series", Project: "kernels", Text: "matmul/N512", Detail: "blocks", URL: "/p/kernels/series/7"}}},
		"limits":  web.Limits{List: []web.Limit{{Name: "series", Limit: 200, Used: 50}, {Name: "hooks", Used: 3}}},
		"fleet": web.Fleet{
			Tier: "checked", Others: 2, Spend: &web.FleetSpend{Hours: 1.25, MaxHours: 8, Money: 1},
			Cards: []web.FleetCard{
				{FleetDevice: client.FleetDevice{ID: "GPU-5c0e", Model: "l4", Tier: "checked", Host: "gpu1", Power: "ready", Price: 0.8, Seen: &day, Calibration: &client.Calibration{At: day, Rounds: 20, Noise: 0.0042, Smallest: 0.011, Planted: 0.03, Found: true}, Calibrations: 40, FalseAlarms: 1}, Doing: "in use"},
				{FleetDevice: client.FleetDevice{ID: "GPU-<script>", Model: "l4", Tier: "own", Host: "<b>", Power: "ready", Quarantine: "2 of its last 3 calibrations missed a planted <i>slowdown", Calibration: &client.Calibration{At: day, Noise: 0.09, Smallest: 0.2}, Calibrations: 3}},
				{FleetDevice: client.FleetDevice{ID: "GPU-77aa", Model: "h100", Power: "closed", Reason: "fan replaced"}},
			},
			Gates: []web.FleetGate{
				{ID: run.Run, Change: "pull/7 <script>", Model: "l4", Tier: "checked", State: "measuring", Device: "GPU-5c0e", Phase: "measuring <i>", Rounds: 1, Since: day},
				{ID: "01J00000000000000000000002", Model: "h100", Tier: "unknown", State: "waiting", Position: 1, Reason: "no host with a device of the model serves this tier", Since: day},
				{ID: "01J00000000000000000000003", Model: "l4", State: "waiting", Position: 2, Start: &day, Reason: "all devices of the model are in use", Since: day},
			},
		},
		"fleet-public": web.Fleet{Cards: []web.FleetCard{{FleetDevice: client.FleetDevice{ID: "GPU-5c0e", Model: "l4", Power: "asleep"}}}, Away: true},
		"fleet-empty":  web.Fleet{Tier: "own", Spend: &web.FleetSpend{}},
		"shared":       web.Shared{Series: series, Bed: "NVIDIA L4", Points: points(), Events: []client.Event{event}, Expires: day.AddDate(0, 1, 0)},
		"login":        web.Login{Start: "/login/start?next=%2F", Name: "id.example"},
		"problem":      web.Problem{Status: 404, Detail: "there is no such page", Request: "ABC"},
	}
}

// otherSeries is the same case on another testbed.
func otherSeries() client.Series {
	s := series
	s.ID, s.Testbed = 8, 3
	return s
}

// compared is a comparison of two runs.
func compared() web.CompareRuns {
	b := run
	b.ID, b.Commit = 12, sha(3)
	other := web.Side{Series: series, Point: points()[2]}
	return web.CompareRuns{
		A: web.RunSide{Text: "run-11", Commit: run.Commit, Title: "matmul: widen the tile"}, B: web.RunSide{Text: "abc", Commit: b.Commit, Problem: "Type more."}, Recent: []client.Run{b, run}, Beds: map[int64]string{2: "NVIDIA L4"},
		Pairs: []web.RunPair{{A: run, B: b, OnlyA: 2, Cases: []web.Compare{{A: web.Side{Series: series, Point: points()[0]}, B: other}}}, {A: run, B: b, Unlike: "They differ."}},
	}
}

var states = []client.EventState{client.EventNew, client.EventAcknowledged, client.EventFixed, client.EventFalseAlarm}

// cause is a group of events.
func cause(events ...client.Event) web.Card {
	first := events[0]
	g := client.Group{ID: first.Group, From: first.From, To: first.To, At: first.At, Worst: first.Change, Series: len(events), Worse: len(events), New: 1, Events: events}
	return web.Card{Group: g, Title: "matmul: widen the tile", Author: "lin", Bed: "NVIDIA L4", Points: points()}
}

// machine is a group that a machine caused.
func machine(e client.Event) web.Card {
	c := cause(e)
	c.Group.ID, c.Group.Machine, c.Group.Testbed, c.Group.New = 9, true, 2, 0
	return c
}

// live is a run that is under way.
func live() client.LiveRun {
	return client.LiveRun{
		Live: "01J00000000000000000000001", Run: run.Run, Suite: "blocks", Commit: sha(2), Branch: "wider <b>", Device: "NVIDIA L4", Began: day, LastSeen: day, Step: "measuring", Last: 9, Missed: 1,
		Sides: []string{"candidate", "base"}, Cases: 2, Round: 1, Of: 4, Planned: []int{4, 8}, Now: client.LiveDevice{TemperatureC: 60, SMClockMHz: 1500, PowerW: 71, Reasons: []string{"power cap"}},
		Rows: []client.LiveRow{
			{Case: "matmul/N512", Unit: "ns", Sides: map[string]client.LiveValue{"candidate": {Value: 1102, Round: 1}, "base": {Value: 1000, Round: 1}}},
			{Case: "matmul/<script>", Unit: "ns", Sides: map[string]client.LiveValue{"candidate": {Failed: "wrong <i>"}}},
		},
	}
}

// crept is a drift that looks like an event otherwise.
func crept(e client.Event) client.Event {
	e.ID, e.Group, e.Kind, e.Since, e.Commits = e.ID+1, e.Group+1, "drift", e.At.AddDate(0, -2, 0), 87
	return e
}

// beside is another event of the same group.
func beside(e client.Event) client.Event {
	e.ID, e.Series, e.Name = e.ID+2, e.Series+2, e.Name+"_B"
	return e
}

// Nothing that crept in is put down to one commit, wherever it is told of.
func TestADriftIsNoCommit(t *testing.T) {
	for name, v := range views() {
		switch page := v.(type) {
		case web.Overview:
			if page.Empty() {
				continue
			}
			for i := range page.Moved {
				page.Moved[i].Group.Events[0] = crept(page.Moved[i].Group.Events[0])
			}
			v = page
		case web.Chart:
			page.Events = []client.Event{crept(event)}
			v = page
		case web.Series:
			for i := range page.Events {
				page.Events[i] = crept(page.Events[i])
			}
			v = page
		case web.Events:
			page.Causes = []web.Card{cause(crept(event))}
			v = page
		case web.Cause:
			page.Card = cause(crept(event))
			v = page
		default:
			continue
		}
		var b bytes.Buffer
		if err := web.Render(&b, web.Layout{Project: &client.Project{Slug: "kernels", Repository: "https://forge.example/k"}}, v); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), "87 commits: no single commit stands out") || !strings.Contains(b.String(), "https://forge.example/k/compare/") {
			t.Errorf("%s does not say where the drift is:\n%s", name, b.String())
		}
	}
}

var folder = regexp.MustCompile(web.AssetPath + `[0-9a-f]{16}/`)

// What people read, page by page.
func TestPagesAreAsTheyWere(t *testing.T) {
	for name, v := range views() {
		t.Run(name, func(t *testing.T) {
			f := web.Layout{Visitor: "ada", CanLogin: true, Path: "/here?x=1", Fleet: strings.HasPrefix(name, "fleet")}
			if name != "projects" && name != "search" && name != "shared" && name != "login" && name != "problem" {
				f.Project = &project
			}
			var b bytes.Buffer
			if err := web.Render(&b, f, v); err != nil {
				t.Fatal(err)
			}
			got := folder.ReplaceAllString(b.String(), web.AssetPath+"X/")
			if name != "overview" && name != "fleet" { // what follows is the same in all others
				got, _, _ = strings.Cut(got, `<footer class="foot">`)
			}
			golden.Check(t, name+".html", got)
		})
	}
}

// The policy of the server lets nothing inline run or style: no page may have any.
func TestNothingInline(t *testing.T) {
	inline := regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script>|javascript:|https?://[^f]`)
	for name, v := range views() {
		var b bytes.Buffer
		if err := web.Render(&b, web.Layout{Project: &project}, v); err != nil {
			t.Fatal(err)
		}
		if found := inline.FindString(b.String()); found != "" {
			t.Errorf("%s: %q", name, found)
		}
	}
}

func TestAssets(t *testing.T) {
	var b bytes.Buffer
	if err := web.Render(&b, web.Layout{}, web.Projects{}); err != nil {
		t.Fatal(err)
	}
	urls := regexp.MustCompile(web.AssetPath+`[^"]+`).FindAllString(b.String(), -1)
	if len(urls) < 4 {
		t.Fatalf("the page loads %v", urls)
	}
	for _, u := range append(urls, strings.Replace(urls[0], "icon.svg", "uplot/uPlot.esm.js", 1)) {
		w := httptest.NewRecorder()
		web.Assets().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", u, nil))
		if w.Code != 200 || w.Body.Len() == 0 || !strings.Contains(w.Header().Get("Cache-Control"), "immutable") || w.Header().Get("Content-Type") == "" {
			t.Errorf("%s: %d, %d bytes, %v", u, w.Code, w.Body.Len(), w.Header())
		}
	}
	for _, u := range []string{"/assets/0123456789abcdef/site.css", "/assets/", strings.Replace(urls[0], "icon.svg", "../web.go", 1)} {
		w := httptest.NewRecorder()
		web.Assets().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", u, nil))
		if w.Code != 404 {
			t.Errorf("%s: %d", u, w.Code)
		}
	}
}

// Both palettes of a report are there by name, each colour of one in the other.
func TestThemes(t *testing.T) {
	var b bytes.Buffer
	if err := web.Render(&b, web.Layout{Theme: "dark"}, web.Projects{}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), `data-theme="dark"`) {
		t.Error("the choice is not in the page")
	}
	w := httptest.NewRecorder()
	u := regexp.MustCompile(web.AssetPath + `[^"]+themes.css`).FindString(b.String())
	web.Assets().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", u, nil))
	light, dark, _ := strings.Cut(w.Body.String(), "[data-theme=dark]")
	colour := regexp.MustCompile(`--[a-z0-9-]+:`)
	if diff := cmp.Diff(colour.FindAllString(light, -1), colour.FindAllString(dark, -1)); diff != "" || len(colour.FindAllString(light, -1)) < 15 {
		t.Errorf("the palettes differ: %s", diff)
	}
	if !strings.Contains(report.PageStyle(), colour.FindString(light)) {
		t.Error("the palette is not a report's")
	}
}

func TestTheme(t *testing.T) {
	var b bytes.Buffer
	if err := web.Render(&b, web.Layout{Theme: `x" onload="`}, web.Projects{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "data-theme") {
		t.Error("an unknown theme is in the page")
	}
}

func TestIsTheMachineHealthy(t *testing.T) {
	for _, c := range []struct {
		name   string
		n      int
		change func(i int, h *client.Health)
		want   string
	}{
		{"few", 12, nil, "It has 12 runs, too few"},
		{"same", 60, nil, "The last 10 runs match those before in the speed of pawl's own kernel, the clock, the temperature and the noise."},
		{"slow", 60, func(i int, h *client.Health) {
			if i >= 50 {
				h.Calibration *= 1.1
			}
		}, "own kernel is 10.0 % slower"},
		{"hot", 60, func(i int, h *client.Health) {
			if i >= 50 {
				h.TemperatureC, h.SMClockMHz = 75, 1300
			}
		}, "the clock fell from 1500 to 1300 MHz and it is 15 degrees warmer (75 °C)"},
		{"noisy", 60, func(i int, h *client.Health) {
			if i >= 50 {
				h.Noise = 0.02
			}
		}, "the spread between rounds is 2.0 % instead of 0.4 %"},
		{"only noise", 60, func(_ int, h *client.Health) { *h = client.Health{Noise: h.Noise} }, "The last 10 runs match those before in the noise."},
		{"silent", 60, func(_ int, h *client.Health) { *h = client.Health{} }, "Its runs report no speed of pawl's own kernel, clock, temperature or noise that could be compared."},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := (web.TestbedHealth{Readings: readings(c.n, c.change)}).Health(); !strings.Contains(got.Sentence, c.want) {
				t.Errorf("says %q, want %q", got.Sentence, c.want)
			}
		})
	}
}

func TestHeatCells(t *testing.T) {
	h := web.Heat{Rows: []web.HeatRow{{Cells: []web.HeatCell{{Value: 100}, {Value: 100}, {Value: 120}, {Value: 0}, {Value: 95}}}}}
	h.Level()
	var got []string
	for _, c := range h.Rows[0].Cells {
		got = append(got, c.Class()+" "+c.Word())
	}
	want := []string{"w0 as usual", "w0 as usual", "w4 +20.0 %, worse", "none not measured", "b2 \u22125.0 %, better"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	more := web.Heat{Rows: []web.HeatRow{{Series: client.Series{Better: "higher"}, Cells: []web.HeatCell{{Value: 100}, {Value: 100}, {Value: 50}}}}}
	more.Level()
	if c := more.Rows[0].Cells[2]; c.Change <= 0 {
		t.Errorf("half of what should be more is no change for the worse: %v", c.Change)
	}
}

func TestThinKeepsExtremes(t *testing.T) {
	var list []client.StoredPoint
	for i := range 5000 {
		v := float32(100)
		if i == 1234 {
			v = 900
		}
		list = append(list, client.StoredPoint{At: day.Add(time.Duration(i) * time.Minute), Report: int64(i), Value: v, Low: v, High: v, Trust: measure.Checked})
	}
	thin := web.Thin(list, 50)
	peak := false
	for _, p := range thin {
		peak = peak || p.Report == 1234 && p.Value == 900
	}
	if len(thin) > 300 || !peak || thin[0].Report != 0 || thin[len(thin)-1].Report != 4999 {
		t.Errorf("%d points are left, the peak among them: %v", len(thin), peak)
	}
}

// A repository is a stranger's word: it is a link only where it is an https address.
func TestCommitsLinkToForgesOnly(t *testing.T) {
	for repository, want := range map[string]bool{
		"https://forge.example/a/b": true, "javascript:alert(1)": false, "http://forge.example/a": false, "https://u:p@forge.example/a": false, "": false, "//forge.example": false,
	} {
		p := project
		p.Repository = repository
		var b bytes.Buffer
		if err := web.Render(&b, web.Layout{Project: &p}, views()["run"]); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(b.String(), `/commit/`); got != want {
			t.Errorf("%q: a link is there: %v", repository, got)
		}
	}
}

// A merge request of GitLab has another address than a pull request.
func TestPullsLinkToTheirForge(t *testing.T) {
	for repository, want := range map[string]string{
		"https://forge.example/a/b": "https://forge.example/a/b/pull/7", "https://gitlab.example/g/s/k": "https://gitlab.example/g/s/k/-/merge_requests/7",
	} {
		p, r := project, run
		p.Repository, r.Pull = repository, 7
		var b bytes.Buffer
		if err := web.Render(&b, web.Layout{Project: &p}, web.Run{Run: r, Bed: "L4"}); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(b.String(), `"`+want+`"`) {
			t.Errorf("%s: no link to %s", repository, want)
		}
	}
}

func TestReportIsPartOfARun(t *testing.T) {
	part, err := report.Part(report.NewDocument(report.Input{Name: "blocks <b>"}))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := web.Render(&b, web.Layout{Project: &project}, web.Run{Run: run, Report: part}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), string(part)) || !strings.Contains(b.String(), "report.js") || part == template.HTML("") {
		t.Error("the report is not in the page")
	}
}

func TestChart_BySeriesAndCommit(t *testing.T) {
	other := otherSeries()
	lines := []web.ChartLine{{Series: series, Bed: "NVIDIA L4", Points: points()}, {Series: other, Bed: "NVIDIA H100", Points: points()[1:]}}
	for name, c := range map[string]struct {
		chart web.Chart
		want  []string
	}{
		"by time":        {web.Chart{Project: project, Lines: lines, Days: 90}, []string{"matmul/N512, 2 ways", "5 May", "change from the median", "10.0 %"}},
		"by commit":      {web.Chart{Project: project, Lines: lines, ByCommit: true, Days: 90, Events: []client.Event{event}}, []string{sha(1)[:10], `href="#event-3"`, "?by=commit&amp;series=7", "?series=7,8"}},
		"values":         {web.Chart{Project: project, Lines: lines, Values: true}, []string{"The value of each run", "?days=0&amp;series=7,8&amp;show=values"}},
		"no points":      {web.Chart{Project: project, Lines: []web.ChartLine{{Series: series}}}, []string{"no points in this period"}},
		"nothing picked": {web.Chart{Project: project}, []string{"No series are picked"}},
		"one of several": {web.Chart{Project: project, Lines: []web.ChartLine{lines[0], {Series: other}}}, []string{"2 ways"}},
	} {
		var b bytes.Buffer
		if err := web.Render(&b, web.Layout{Project: &project}, c.chart); err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(b.String(), want) {
				t.Errorf("%s does not have %q:\n%s", name, want, b.String())
			}
		}
	}
	units := web.Chart{Lines: []web.ChartLine{{Series: series}, {Series: client.Series{Unit: "GB/s", Better: measure.Higher}}}}
	if units.OneUnit() || !strings.HasPrefix(units.Direction(), "For some") {
		t.Error("series of different units share an axis")
	}
}

func TestRun_TitleIsTheResult(t *testing.T) {
	for want, verdicts := range map[string][]string{
		"1 of 3 cases got worse": {"regression", "maintained", "improvement"}, "All 2 cases held": {"maintained", "maintained"}, "The case held": {"maintained"},
		"No answer for 1 of 2 cases": {"inconclusive", "improvement"}, "2 cases measured": {"", ""}, "0 cases measured": nil, "2 of 2 cases got better": {"improvement", "improvement"},
	} {
		var r web.Run
		for _, v := range verdicts {
			r.Points = append(r.Points, client.RunPoint{Point: client.StoredPoint{Verdict: v}})
		}
		if got := r.Title(); got != want {
			t.Errorf("%v: %q, want %q", verdicts, got, want)
		}
	}
}

// Badges and charts for other sites are small, whatever a name is, and say it escaped.
func TestPictures_OfHostileNames(t *testing.T) {
	s := series
	s.Name = strings.Repeat(`<script>"&'`, 200)
	for name, svg := range map[string]string{
		"a badge": web.SeriesBadge(s, 2), "a chart": web.EmbeddedChart(s, points(), []client.Event{event}), "an empty chart": web.EmbeddedChart(s, nil, nil), "a project's badge": web.ProjectBadge(0),
	} {
		if strings.Contains(svg, "<script") || strings.Contains(svg, "NaN") || strings.Contains(svg, "Inf") {
			t.Errorf("%s: %s", name, svg)
		}
		if err := xml.Unmarshal([]byte(svg), new(struct{})); err != nil {
			t.Errorf("%s is not XML: %v", name, err)
		}
	}
}
