package github_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/githubtest"
)

func TestCheckGoesForward(t *testing.T) {
	s := githubtest.New(t)
	c, clock := newClient(t, s)
	ctx := t.Context()
	begun := clock.time()
	start := forge.Check{Name: "pawl", SHA: sha('a'), Status: forge.InProgress, Title: "measuring", Summary: "soon"}
	end := forge.Check{Name: "pawl", SHA: sha('a'), Status: forge.Completed, Conclusion: forge.Failure, Title: "2 cases are slower", Summary: "| a |", URL: "https://x.example/1"}
	for i := range 120 {
		end.Annotations = append(end.Annotations, forge.Annotation{Path: "k.cu", Line: 1 + i, EndLine: 1 + i, Level: forge.Warning, Title: "slower", Message: fmt.Sprint("case ", i)})
	}
	set := func(k forge.Check) string {
		t.Helper()
		_ = clock.sleep(ctx, time.Minute)
		url, err := c.SetCheck(ctx, k)
		if err != nil {
			t.Fatal(err)
		}
		return url
	}
	ignore := cmpopts.IgnoreFields(forge.Check{}, "Started")
	is := func(want forge.Check, runs int) {
		t.Helper()
		if d := cmp.Diff([]forge.Check{want}, s.Checks(sha('a')), ignore); d != "" {
			t.Error(d)
		}
		if got := s.CheckRuns(sha('a'), "pawl"); len(got) != runs {
			t.Errorf("%d check runs, not %d", len(got), runs)
		}
	}

	first := set(start)
	is(start, 1)
	if set(end) != first {
		t.Error("the end is another check than the start")
	}
	is(end, 1)

	before := writes(s)
	set(end)
	if is(end, 1); writes(s) != before {
		t.Errorf("the same again took %d writes", writes(s)-before)
	}

	// A start that began before that end comes late: it changes nothing.
	late := start
	late.Started = begun
	set(late)
	is(end, 1)

	// An accepted regression concludes anew, in place.
	end.Conclusion, end.Title = forge.Success, "accepted"
	set(end)
	is(end, 1)

	// Another attempt.
	set(start)
	is(start, 2)
	end.Conclusion = forge.Neutral
	set(end)
	is(end, 2)
}

// A job of the same name is GitHub's own check run: it is not ours to change.
func TestCheckLeavesOthersAlone(t *testing.T) {
	s := githubtest.New(t)
	c, _ := newClient(t, s)
	k := forge.Check{Name: "pawl", SHA: sha('a'), Status: forge.Queued, Title: "t", Summary: "s"}
	if _, err := c.SetCheck(t.Context(), k); err != nil {
		t.Fatal(err)
	}
	other := k
	other.Name = "pawl / gemm"
	if _, err := c.SetCheck(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	if got := s.Checks(sha('a')); len(got) != 2 {
		t.Errorf("%+v", got)
	}
}

func TestBadChecksAreRefused(t *testing.T) {
	s := githubtest.New(t)
	c, _ := newClient(t, s)
	for _, bad := range []forge.Check{
		{Name: "", SHA: sha('a'), Status: forge.Queued},
		{Name: "x", SHA: "main", Status: forge.Queued},
		{Name: "x", SHA: sha('a'), Status: forge.Completed},
		{Name: "x", SHA: sha('a'), Status: forge.InProgress, Conclusion: forge.Success},
	} {
		if _, err := c.SetCheck(t.Context(), bad); err == nil {
			t.Errorf("%+v was taken", bad)
		}
	}
	if len(s.Requests()) != 0 {
		t.Error("something was sent")
	}
}
