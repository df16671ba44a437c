package server

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

func TestSeriesListPage(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", true)
	key := w.key(p, store.ScopeReportMain)
	w.sent("kernels", key, example(1, seriesShown+5))
	w.event(p.ID)
	read := func(query string) string { return string(w.want(200, asked{path: "/p/kernels/series" + query}).body) }
	rows := func(page string) int { return strings.Count(page, `name="series"`) }

	first := read("")
	if rows(first) != seriesShown || !strings.Contains(first, "1 series changed in 30 days") {
		t.Errorf("the first page has %d series\n%.2000s", rows(first), first)
	}
	_, rest, more := strings.Cut(first, `<a href="?cursor=`)
	cursor, _, _ := strings.Cut(rest, `"`)
	if !more || rows(read("?cursor="+cursor)) != 5 {
		t.Errorf("the second page, from %q, does not have the rest", cursor)
	}
	w.want(http.StatusBadRequest, asked{path: "/p/kernels/series?order=noise&cursor=" + cursor}) // a cursor is of one order
	for order, want := range map[string]int{"name": seriesShown, "newest": 1, "worst": 1, "noise": 0} {
		if page := read("?order=" + order); rows(page) != want || order != "name" && !strings.Contains(page, `aria-sort="descending"`) {
			t.Errorf("by %s: %d series, want %d", order, rows(page), want)
		}
	}
	if page := read("?order=worst&text=D0&suite=attention"); rows(page) != 1 || !strings.Contains(page, "10.0 %") || !strings.Contains(page, "order=newest&amp;suite=attention&amp;text=D0") {
		t.Errorf("the order does not keep the filter:\n%s", page)
	}
}

func TestChartPage(t *testing.T) {
	w := newWorld(t)
	f := w.furnish("open", true)
	key := w.key(f.Project, store.ScopeReportMain)
	other := example(5, 2) // the same case on another testbed
	other.Suite, other.Testbed.Device, other.Device.Name = secretText, "NVIDIA H100", "NVIDIA H100"
	w.sent("open", key, other)
	read := func(query string) string { return string(w.want(200, asked{path: "/p/open/chart" + query}).body) }
	if page := read("?series=1&series=2&by=commit"); strings.Count(page, `class="swatch`) != 2 || !strings.Contains(page, `href="#event-`) || !strings.Contains(page, `"commits":[`) {
		t.Errorf("two series:\n%s", page)
	}
	page := read("?suite=" + secretText + "&name=attention/D0")
	if strings.Count(page, `class="swatch`) != 2 || !strings.Contains(page, "NVIDIA H100") || !strings.Contains(page, "NVIDIA L4") || !strings.Contains(page, "attention/D0, 2 ways") {
		t.Errorf("one case on two testbeds:\n%s", page)
	}
	if page := read("?series=999"); !strings.Contains(page, "No series are picked") {
		t.Errorf("an unknown series:\n%s", page)
	}
	writer, _ := w.person("writer", map[int64]store.Role{f.ID: store.Writer})
	form := fmt.Sprintf(`action="/p/open/events/%d"`, f.event)
	for _, path := range []string{"/p/open/chart?series=1,2", "/p/open/series/1"} {
		if page := w.want(200, asked{path: path, cookie: writer}).body; !strings.Contains(string(page), form) {
			t.Errorf("%s: a change cannot be answered at the chart", path)
		}
		if page := w.want(200, asked{path: path}).body; strings.Contains(string(page), form) {
			t.Errorf("%s: anyone is offered to answer", path)
		}
	}
}

func TestCompareRuns(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", true)
	key := w.key(p, store.ScopeReportMain)
	send := func(n int, value float64, change func(*client.Report)) int64 {
		r := example(n, 3)
		r.Commit.SHA = fmt.Sprintf("%d%039d", n, 0)
		at := began.AddDate(0, 0, n-9)
		r.Commit.At, r.Commit.Title = &at, fmt.Sprintf("attention: part %d", n)
		r.Points[0].Value, r.Points[0].Low, r.Points[0].High = value, value-1, value+1
		if change != nil {
			change(r)
		}
		return w.sent("kernels", key, r).Report
	}
	a, b := send(1, 1000, nil), send(2, 1100, nil)
	alike := send(3, 1000, func(r *client.Report) { r.Commit.SHA = fmt.Sprintf("%d%038d1", 1, 0) })
	far := send(4, 1000, func(r *client.Report) { r.Testbed.Device = "NVIDIA H100" })
	other := send(5, 1000, func(r *client.Report) { r.Suite = "blocks" })
	for _, c := range []struct{ query, want string }{
		{"", "Compare two runs or commits"},
		{fmt.Sprintf("?a=run-%d&b=run-%d", a, b), "B is worse in 1 of 3 cases"},
		{fmt.Sprintf("?a=run-%d&b=run-%d", b, a), "B is better in 1 of 3 cases"},
		{fmt.Sprintf("?a=run-%d&b=2000", a), "B is worse in 1 of 3 cases"},
		{"?a=&commit-a=2000&b=&commit-b=" + fmt.Sprintf("1%039d", 0), "B is better in 1 of 3 cases"},
		{fmt.Sprintf("?a=run-%d&b=run-%d", a, a), "B does not differ from A in 3 cases"},
		{fmt.Sprintf("?a=run-%d&b=run-%d", a, far), "different testbeds"},
		{fmt.Sprintf("?a=run-%d&b=run-%d", a, other), "One is of suite attention, the other of blocks."},
		{"?a=2000&b=1000", "Several measured commits start with this"},
		{"?a=2000&b=ffff", "No measured commit starts with this"},
		{"?a=2000&b=zz", "at least 4 characters"},
		{"?a=run-999&b=2000", "There is no such run"},
		{"?a=run-99999999999999999999&b=2000", "There is no such run"},
		{fmt.Sprintf("?a=2000&b=run-%d", alike), "B is better in 1 of 3 cases"},
		{fmt.Sprintf("?b=run-%d", alike), fmt.Sprintf(`<option value="run-%d" selected>`, alike)},
		{"?a=2000&b=4000", "different testbeds"},
	} {
		page := string(w.want(200, asked{path: "/p/kernels/compare" + c.query}).body)
		if !strings.Contains(page, c.want) {
			t.Errorf("%s does not say %q:\n%s", c.query, c.want, page)
		}
	}
	page := string(w.want(200, asked{path: "/p/kernels/compare?a=1000000&b=2000"}).body)
	if !strings.Contains(page, "Several") {
		t.Errorf("%s", page)
	}
	pair := string(w.want(200, asked{path: fmt.Sprintf("/p/kernels/compare?a=run-%d&b=run-%d", a, b)}).body)
	_, rest, _ := strings.Cut(pair, `<td class="text"><a href="`)
	link, _, _ := strings.Cut(rest, `"`)
	if point := string(w.want(200, asked{path: "/p/kernels/compare" + strings.ReplaceAll(link, "&amp;", "&")}).body); !strings.Contains(point, "Two points of attention/D0") {
		t.Errorf("%s leads to\n%s", link, point)
	}
}
