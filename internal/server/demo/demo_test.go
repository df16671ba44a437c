package demo_test

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/demo"
	"github.com/goatnote-inc/pawl/internal/server/trend"
	"github.com/goatnote-inc/pawl/measure/samplecodec"
)

var small = demo.Size{End: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), Days: 20, Commits: 2, Configs: 1}

func TestSameSeedSameYear(t *testing.T) {
	text := func(seed uint64) string {
		var all []*client.Report
		for r := range demo.Year(seed, small) {
			all = append(all, r)
		}
		b, err := json.Marshal(all)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	one := text(1)
	if diff := cmp.Diff(one, text(1)); diff != "" {
		t.Errorf("the same seed gave another year: %s", diff)
	}
	if one == text(2) {
		t.Error("another seed gave the same year")
	}
}

func TestStopsWhenAsked(t *testing.T) {
	n := 0
	for range demo.Year(1, small) {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("made %d reports after being stopped", n)
	}
}

func TestReportsAreBelievable(t *testing.T) {
	runs := map[string]bool{}
	var pulls, forks, devices int
	seen := map[string]bool{}
	for r := range demo.Year(3, small) {
		if runs[r.Run] || len(r.Run) != 26 {
			t.Errorf("run %s is named twice or badly", r.Run)
		}
		runs[r.Run] = true
		if !seen[r.Device.Name] {
			seen[r.Device.Name] = true
			devices++
		}
		if r.Pull > 0 {
			pulls++
		}
		if r.Trust == "self-timed" {
			forks++
		}
		if r.Measured.After(small.End.AddDate(0, 0, 1)) || len(r.Points) == 0 || len(r.Commit.SHA) != 40 {
			t.Errorf("report %+v", r)
		}
		for _, p := range r.Points {
			if !(p.Low < p.Value && p.Value < p.High) || p.Rounds < 2 || math.IsNaN(p.Value) {
				t.Errorf("point %+v", p)
			}
		}
	}
	if devices != 3 || pulls == 0 || forks == 0 {
		t.Errorf("%d devices, %d pull requests, %d forks", devices, pulls, forks)
	}
}

// The finder finds what was planted, where it was planted, and little else.
func TestPlantedIsFound(t *testing.T) {
	size := demo.Size{End: time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), Configs: 1}
	histories := map[[2]string][]float64{} // by device and case
	commits := map[[2]string][]string{}
	place := map[string]int{}
	for r := range demo.Year(7, size) {
		if r.Pull > 0 {
			continue
		}
		if _, known := place[r.Commit.SHA]; !known {
			place[r.Commit.SHA] = len(place)
		}
		for _, p := range r.Points {
			key := [2]string{r.Device.Name, p.Name()}
			histories[key], commits[key] = append(histories[key], p.Value), append(commits[key], r.Commit.SHA)
		}
	}
	truth := demo.Truth(7, size)
	due, found, told, right := 0, 0, 0, 0
	for key, points := range histories {
		f, _ := trend.Find(points, trend.Settings{}, trend.State{})
		explained := make([]bool, len(f.Events))
		for _, p := range truth {
			if p.Device != "" && p.Device != key[0] || !slices.Contains(p.Cases, key[1]) {
				continue
			}
			if p.Kind == demo.TwoSpeeds && !f.TwoSpeeds {
				t.Errorf("%s: two speeds were not seen", key)
			}
			if p.Kind != demo.Step && p.Kind != demo.Machine && p.Kind != demo.Drift {
				continue
			}
			due++
			for i, e := range f.Events {
				apart := place[commits[key][e.To]] - place[p.Commit]
				near := math.Abs(float64(apart)) <= 3
				if (near || p.Kind == demo.Drift && apart > 0) && e.Worse == (p.Change > 0) && !explained[i] {
					explained[i] = true
					found++
					break
				}
			}
		}
		told += len(f.Events)
		for _, e := range explained {
			if e {
				right++
			}
		}
	}
	t.Logf("%d series, planted in them %d, found %d; told %d, right %d", len(histories), due, found, told, right)
	if float64(found) < 0.9*float64(due) || float64(right) < 0.8*float64(told) {
		t.Errorf("planted %d, found %d; told %d, right %d", due, found, told, right)
	}
}

// What a report names as its record is one: it reads back, with samples whose medians
// are about the report's values.
func TestRecordsTellWhatReportsTell(t *testing.T) {
	for r := range demo.Year(5, small) {
		files, err := demo.Files(r)
		if err != nil {
			t.Fatal(err)
		}
		if len(files) != 2 || len(r.Blobs) != 2 || r.Blobs[0].Digest != files[0].Digest {
			t.Fatalf("files %v, named %v", files, r.Blobs)
		}
		stripped, data, err := samplecodec.Split(demo.Record(r))
		if err != nil {
			t.Fatal(err)
		}
		run, err := samplecodec.Join(stripped, data)
		if err != nil {
			t.Fatal(err)
		}
		for i, p := range r.Points {
			c := run.Cases[2*i+1]
			if c.CaseKey != p.CaseKey || len(c.Rounds) != p.Rounds {
				t.Fatalf("case %v with %d rounds, want %v with %d", c.CaseKey, len(c.Rounds), p.CaseKey, p.Rounds)
			}
			var medians []float64
			for _, round := range c.Rounds {
				s := slices.Sorted(slices.Values(round.Samples))
				medians = append(medians, s[len(s)/2])
			}
			slices.Sort(medians)
			if got := medians[len(medians)/2]; math.Abs(got/p.Value-1) > 4*p.Spread {
				t.Errorf("%s: the samples are about %g, the report says %g", p.Name(), got, p.Value)
			}
		}
		return
	}
}
