package web

import (
	"cmp"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/words"
)

// SeriesOrders lists the orders of a list of series. The first one is the default.
var SeriesOrders = []string{"name", "newest", "worst", "noise"}

// SeriesList is the page of the series of a project.
type SeriesList struct {
	Suite, Text string
	Lane        client.Lane
	Testbed     int64 // only series of this one; 0 means all
	Order       string
	Days        int // changes older than this are not shown
	Changed     int // series of the project that changed
	Suites      []string
	List        []SeriesRow
	Beds        map[int64]string
	Next        string // query of the next page; empty at the end
}

// Title summarizes what happened.
func (v SeriesList) Title() string {
	in := fmt.Sprintf(" in %d days", v.Days)
	if v.Days == 1 {
		in = " in a day"
	}
	if v.Changed == 0 {
		return "No series changed" + in
	}
	of := ""
	if v.Text != "" || v.Suite != "" || v.Testbed != 0 {
		of = " of the project" // the list below has fewer
	}
	return words.Plural(v.Changed, "series") + of + " changed" + in
}
func (SeriesList) tab() string { return "series" }

// SeriesRow is a series in a list.
type SeriesRow struct {
	client.Series
	Change client.Event         // the newest; zero if there was none
	Points []client.StoredPoint // the last ones
}

// Spark draws the last points.
func (r SeriesRow) Spark() template.HTML {
	if r.Change.ID == 0 {
		return spark(r.Points, nil)
	}
	return spark(r.Points, &r.Change)
}

// OnlyChanged reports whether the list leaves out series that did not change.
func (v SeriesList) OnlyChanged() bool { return v.Order == "newest" || v.Order == "worst" }

// Spans returns the periods in which to look for changes, in days.
func (SeriesList) Spans() []int { return []int{7, 30, 90, 365} }

// With returns the query of the list with one choice changed.
func (v SeriesList) With(name string, value any) string {
	choices := map[string]string{"suite": v.Suite, "text": v.Text, "lane": string(v.Lane), "order": v.Order, "days": strconv.Itoa(v.Days), "testbed": strconv.FormatInt(v.Testbed, 10)}
	choices[name] = fmt.Sprint(value)
	return query(choices, map[string]string{"lane": string(client.Main), "order": SeriesOrders[0], "days": "30", "testbed": "0"})
}

// query writes choices as a query, without those that are empty or as by default.
func query(choices, defaults map[string]string) string {
	q := url.Values{}
	for name, value := range choices {
		if value != "" && value != defaults[name] {
			q.Set(name, value)
		}
	}
	return "?" + strings.ReplaceAll(q.Encode(), "%2C", ",")
}

// SortedBy reports whether the list is in an order.
func (v SeriesList) SortedBy(order string) bool { return v.Order == order }

// NamedTestbed is a testbed to choose.
type NamedTestbed struct {
	ID   int64
	Name string
}

// BedChoices returns the testbeds to filter by, by name.
func (v SeriesList) BedChoices() []NamedTestbed { return bedChoices(v.Beds) }

func bedChoices(beds map[int64]string) []NamedTestbed {
	var list []NamedTestbed
	for id, name := range beds {
		list = append(list, NamedTestbed{id, name})
	}
	slices.SortFunc(list, func(a, b NamedTestbed) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID)) })
	return list
}
