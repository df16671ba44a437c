package profile_test

import (
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// Every row of the details pages of 18 real reports is in the record: metrics and
// results of rules, in their order.
func TestEveryRowOfTheRealDetailsPages(t *testing.T) {
	metrics, rules, estimates := 0, 0, 0
	for _, report := range reports(t) {
		rows := table(t, report+".details.csv")
		p := open(t, report+".details.csv")
		at := map[string]*[2]int{}
		launches := map[string]profile.Launch{}
		for _, l := range p.Launches {
			id := strconv.Itoa(l.ID)
			launches[id], at[id] = l, new([2]int)
		}
		for _, row := range rows[1:] {
			l, n := launches[row[0]], at[row[0]]
			for i, column := range rows[0][:11] {
				checkID(t, column, row[i], l)
			}
			if row[12] != "" {
				checkMetric(t, row, l.Metrics[n[0]])
				n[0]++
				metrics++
				continue
			}
			want := profile.Rule{ID: row[15], Section: row[11], Kind: row[16], Text: row[17], Scope: row[18]}
			if v, err := strconv.ParseFloat(row[19], 64); err == nil {
				want.Speedup = &v
				estimates++
			}
			if diff := cmp.Diff(want, l.Rules[n[1]]); diff != "" {
				t.Errorf("%s: %s", filepath.Base(report), diff)
			}
			n[1]++
			rules++
		}
		for id, l := range launches {
			if got := [2]int{len(l.Metrics), len(l.Rules)}; got != *at[id] {
				t.Errorf("%s: %v metrics and rules, want %v", filepath.Base(report), got, *at[id])
			}
		}
	}
	if metrics != 1558 || rules != 221 || estimates != 94 {
		t.Errorf("%d metrics, %d rules, %d estimates of a speedup, want 1558, 221 and 94", metrics, rules, estimates)
	}
}

func checkMetric(t *testing.T, row []string, m profile.Metric) {
	t.Helper()
	want := profile.Metric{Section: row[11], Label: row[12], Unit: row[13]}
	if v, err := strconv.ParseFloat(strings.ReplaceAll(row[14], ",", ""), 64); err == nil {
		want.Value = &v
	} else {
		want.Text = row[14]
	}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Error(diff)
	}
}

// Every label means the metric that pawl takes it for: the two pages of a report
// agree on its value, as far as the page for people shows it.
func TestLabelsAreTheMetricsTheyAreTakenFor(t *testing.T) {
	same, without := 0, map[string]int{}
	for _, report := range reports(t) {
		raw, details := open(t, report+".raw.csv"), open(t, report+".details.csv")
		merged, err := profile.Merge(raw, details)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range merged.Launches {
			printed := map[[2]string]profile.Metric{}
			for _, m := range details.Launches[i].Metrics {
				printed[[2]string{m.Section, m.Label}] = m
			}
			for _, m := range l.Metrics {
				if m.Section == "" {
					continue
				}
				if m.Name == "" {
					without[m.Label]++
					continue
				}
				if !agree(m, printed[[2]string{m.Section, m.Label}]) {
					t.Errorf("%s: %s of %s is %s", filepath.Base(report), m.Label, m.Section, m.Name)
				}
				same++
			}
			if len(l.Rules) != len(details.Launches[i].Rules) {
				t.Errorf("%s: %d rules, want %d", filepath.Base(report), len(l.Rules), len(details.Launches[i].Rules))
			}
		}
	}
	if diff := cmp.Diff(map[string]int{}, without); diff != "" {
		t.Errorf("labels without a metric of the raw page:\n%s", diff)
	}
	if same != 1558 {
		t.Errorf("%d labels, want 1558", same)
	}
}

// agree compares a value with how it is printed for people: with two decimals, and in
// a unit that suits the launch, while the raw page has one unit for all launches.
func agree(exact, printed profile.Metric) bool {
	if exact.Value == nil || printed.Value == nil {
		return exact.Text == printed.Text
	}
	scale := map[string]float64{"usecond": 1e3, "msecond": 1e6, "Kbyte/block": 1e3}
	a, b := max(1, scale[exact.Unit]), max(1, scale[printed.Unit])
	if (a == 1 && b == 1) && exact.Unit != printed.Unit {
		return false
	}
	return math.Abs(*exact.Value*a-*printed.Value*b) <= 0.005001*b
}
