package trend_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/server/trend"
)

// recording is a history that somebody recorded.
type recording struct {
	name, title, unit string
	values            []float64
	commits           []string // none where they were not recorded
	higher            bool
}

// recorded reads one file of the recordings.
func recorded(t testing.TB, name string, into any) {
	t.Helper()
	dir := os.Getenv("PAWL_DATA")
	if dir == "" {
		t.Skip("PAWL_DATA names no recordings")
	}
	b, err := os.ReadFile(filepath.Join(dir, "history", name))
	if err == nil {
		err = json.Unmarshal(b, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// histories are all recordings that have one.
func histories(t testing.TB) []recording {
	t.Helper()
	robust := recording{name: "mongodb", title: "MongoDB, a throughput of its CI", unit: "operations/s", higher: true}
	recorded(t, "mongodb_robust_series.json", &robust.values)
	made := recording{name: "mongodb-long", title: "MongoDB, made up for its tests, raised by 100", unit: ""}
	recorded(t, "mongodb_long_series.json", &made.values)
	for i := range made.values {
		made.values[i] += 100 // it goes below zero, where nothing that is measured goes
	}
	list := []recording{robust, made, talos(t, "mozilla_runs2.json", "mozilla-runs", "Mozilla Talos, start time", "ms"), talos(t, "mozilla_tp5rss.json", "mozilla-rss", "Mozilla Talos, memory of tp5", "bytes")}

	var runs []tigerRun
	recorded(t, "tigerbeetle.json", &runs)
	slices.SortFunc(runs, func(a, b tigerRun) int { return cmp.Compare(a.Timestamp, b.Timestamp) }) // it is in pieces, the newest first
	for _, m := range runs[0].Metrics {
		r := recording{name: "tigerbeetle-" + strings.ReplaceAll(m.Name, "_", "-"), title: "TigerBeetle, " + m.Name, unit: m.Unit, higher: m.Name == "load_accepted"}
		for _, run := range runs {
			for _, x := range run.Metrics {
				if x.Name == m.Name {
					r.values, r.commits = append(r.values, x.Value), append(r.commits, run.Attributes.Commit)
				}
			}
		}
		list = append(list, r)
	}
	return list
}

type tigerRun struct {
	Timestamp int64
	Metrics   []struct {
		Name, Unit string
		Value      float64
	}
	Attributes struct {
		Commit string `json:"git_commit"`
	}
}

func talos(t testing.TB, file, name, title, unit string) recording {
	t.Helper()
	var runs struct {
		TestRuns [][]json.RawMessage `json:"test_runs"`
	}
	recorded(t, file, &runs)
	// In the order of builds: a build that was measured again stands with the first time.
	built := func(run []json.RawMessage) string { return strings.Split(string(run[1]), ",")[1] }
	slices.SortStableFunc(runs.TestRuns, func(a, b []json.RawMessage) int { return strings.Compare(built(a), built(b)) })
	r := recording{name: name, title: title, unit: unit}
	for _, run := range runs.TestRuns {
		var build []any
		var v float64
		if err := json.Unmarshal(run[1], &build); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(run[3], &v); err != nil {
			t.Fatal(err)
		}
		r.values, r.commits = append(r.values, v), append(r.commits, fmt.Sprint(build[2]))
	}
	return r
}

// commit is that of a point; histories without commits count.
func (r recording) commit(i int) string {
	if i < len(r.commits) {
		return r.commits[i]
	}
	return fmt.Sprint("c", i)
}

// list says what was found, a line an event.
func (r recording) list(f trend.Result) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %d points, noise %.2f %%, %d outliers", r.name, len(r.values), 100*f.Noise, f.Outliers)
	if f.TwoSpeeds {
		b.WriteString(", two speeds")
	}
	b.WriteByte('\n')
	for i, e := range f.Events {
		good := "better"
		if e.Worse {
			good = "worse"
		}
		fmt.Fprintf(&b, "  %d. %s %d to %d, %.7s..%.7s: %.4g to %.4g, %+.1f %%, %s\n", i+1, e.Kind, e.First, e.Last, r.commit(e.From), r.commit(e.To), e.Before, e.After, 100*(e.After/e.Before-1), good)
	}
	return b.String()
}

// What is found in histories that people recorded is written down: who changes the
// finder sees what becomes of it. With PAWL_LAB the pictures of docs/lab are drawn.
func TestRealHistories(t *testing.T) {
	var text strings.Builder
	for _, r := range histories(t) {
		s := trend.Settings{Higher: r.higher}
		f, _ := trend.Find(r.values, s, trend.State{})
		text.WriteString(r.list(f))
		// The same in two parts.
		half := len(r.values) / 2
		_, st := trend.Find(r.values[:half], s, trend.State{})
		if again, _ := trend.Find(r.values, s, st); !gocmp.Equal(f, again) {
			t.Errorf("%s: two parts are not the whole: %s", r.name, gocmp.Diff(f, again))
		}
		if dir := os.Getenv("PAWL_LAB"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, "trend-"+r.name+".svg"), []byte(r.draw(f)), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	golden.Check(t, "histories.txt", text.String())
	if dir := os.Getenv("PAWL_LAB"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, "trend-events.md"), []byte("```\n"+text.String()+"```\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
