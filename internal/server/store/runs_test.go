package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// history is a project with n runs of so many cases in lane main, one run of a branch
// and one of a fork.
func history(t testing.TB, s *store.Store, slug string, n, cases int) (project int64, receipts []client.Receipt) {
	t.Helper()
	project = projectNamed(t, s, slug)
	for i := range n {
		r := reportNo(i, cases)
		r.Health = client.Health{TemperatureC: 40 + float64(i), Noise: 0.01}
		receipts = append(receipts, ingest(t, s, project, r, client.Main))
	}
	for i, lane := range []client.Lane{client.Branch, client.Fork} {
		r := reportNo(n+i, cases)
		r.Branch, r.Pull = "topic", 7
		receipts = append(receipts, ingest(t, s, project, r, lane))
	}
	return project, receipts
}

func TestRuns(t *testing.T) {
	s, _ := opened(t)
	project, receipts := history(t, s, "kernels", 5, 3)
	for name, c := range map[string]struct {
		q    store.RunQuery
		want []int
	}{
		"all":         {store.RunQuery{}, []int{6, 5, 4, 3, 2, 1, 0}},
		"two":         {store.RunQuery{Limit: 2}, []int{6, 5}},
		"next two":    {store.RunQuery{Limit: 2, Before: receipts[5].Report}, []int{4, 3}},
		"main":        {store.RunQuery{Lane: client.Main}, []int{4, 3, 2, 1, 0}},
		"forks":       {store.RunQuery{Lane: client.Fork}, []int{6}},
		"a commit":    {store.RunQuery{Commit: sha(2)}, []int{2}},
		"other suite": {store.RunQuery{Suite: "cooking"}, nil},
		"the suite":   {store.RunQuery{Suite: "kernels", Testbed: -1}, nil},
	} {
		runs, err := s.Runs(t.Context(), project, c.q)
		if err != nil {
			t.Fatal(err)
		}
		var got, want []int64
		for _, r := range runs {
			got = append(got, r.ID)
		}
		for _, i := range c.want {
			want = append(want, receipts[i].Report)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if _, err := s.Runs(t.Context(), project, store.RunQuery{Lane: "fast"}); err == nil {
		t.Error("a lane that is none was taken")
	}
	run, err := s.Run(t.Context(), project, receipts[1].Report)
	if err != nil {
		t.Fatal(err)
	}
	r := reportNo(1, 3)
	want := client.Run{
		ID: receipts[1].Report, Run: r.Run, Suite: "kernels", Measured: r.Measured, Received: noon, At: *r.Commit.At, Commit: sha(1), Branch: "main",
		Lane: client.Main, Trust: r.Trust, Pawl: "0.8.0", Testbed: run.Testbed, Health: client.Health{TemperatureC: 41, Noise: 0.01},
		Verdict: "maintained", Sentence: "nothing moved", Points: 3, Sender: map[string]string{"key": "1"},
	}
	if diff := cmp.Diff(want, run, cmpopts.EquateEmpty()); diff != "" {
		t.Error(diff)
	}
	if again, err := s.RunByName(t.Context(), project, r.Run); err != nil || again.ID != run.ID {
		t.Errorf("by name: %d, %v", again.ID, err)
	}
	if _, err := s.Run(t.Context(), project, 999); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a run that is not there: %v", err)
	}
}

// A run's points are found wherever they rest.
func TestRunSeries(t *testing.T) {
	s, _ := opened(t)
	project, receipts := history(t, s, "kernels", 5, 4)
	check := func(where string) {
		t.Helper()
		got, err := s.RunSeries(t.Context(), project, receipts[2].Report)
		if err != nil {
			t.Fatal(err)
		}
		if len(got) != 4 {
			t.Fatalf("%s: %d points", where, len(got))
		}
		for i, p := range got {
			if want := reportNo(2, 4).Points[i]; p.Series.Name != fmt.Sprintf("matmul/N%d", i) || p.Series.Lane != client.Main ||
				p.Point.Value != float32(want.Value) || p.Point.Commit != sha(2) || p.Point.Report != receipts[2].Report {
				t.Errorf("%s: %+v", where, p)
			}
		}
	}
	check("hot")
	if _, err := s.Compact(t.Context(), pointstore.CompactOptions{Before: *reportNo(3, 1).Commit.At}); err != nil {
		t.Fatal(err)
	}
	check("in tiles")
	if _, err := s.RunSeries(t.Context(), project, 999); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a run that is not there: %v", err)
	}
}

func TestTestbeds(t *testing.T) {
	s, _ := opened(t)
	project, receipts := history(t, s, "kernels", 5, 1)
	list, err := s.Testbeds(t.Context(), project)
	if err != nil || len(list) == 0 {
		t.Fatalf("%v, %v", list, err)
	}
	one, err := s.Testbed(t.Context(), project, list[0].ID)
	if err != nil || one.Facts.Device != "L4" {
		t.Errorf("%+v, %v", one, err)
	}
	if _, err := s.Testbed(t.Context(), project, 999); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a testbed that is not there: %v", err)
	}
	run, err := s.Run(t.Context(), project, receipts[0].Report)
	if err != nil {
		t.Fatal(err)
	}
	if bed, err := s.Testbed(t.Context(), project, run.Testbed); err != nil || !bed.First.Equal(run.Measured) {
		t.Errorf("first seen %s, measured on from %s: %v", bed.First, run.Measured, err)
	}
	checkups, err := s.TestbedHistory(t.Context(), project, run.Testbed, time.Time{}, 3)
	if err != nil {
		t.Fatal(err)
	}
	var got []int64
	for _, c := range checkups {
		got = append(got, c.Run)
	}
	if diff := cmp.Diff([]int64{receipts[4].Report, receipts[5].Report, receipts[6].Report}, got); diff != "" {
		t.Error(diff)
	}
	if checkups[0].TemperatureC != 44 || checkups[0].Commit != sha(4) || checkups[2].Lane != client.Fork {
		t.Errorf("%+v", checkups)
	}
	if since, err := s.TestbedHistory(t.Context(), project, run.Testbed, reportNo(6, 1).Measured, 0); err != nil || len(since) != 1 {
		t.Errorf("since the last: %d, %v", len(since), err)
	}
}
