package github_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/github"
	"github.com/goatnote-inc/pawl/internal/forge/githubtest"
)

// contender makes a client that lives in a world.
func contender(t *testing.T, s *githubtest.Server, w *world, delay func() time.Duration, random func() float64) *github.Client {
	t.Helper()
	c, err := github.New(github.Config{
		BaseURL: s.URL, Repo: s.Repo,
		Token: func(context.Context) (string, error) { return s.Token, nil },
		Waiting: forge.Waiting{
			HTTP:  &http.Client{Timeout: 10 * time.Minute, Transport: &wire{w, delay, http.DefaultTransport}},
			Sleep: w.sleep, Now: w.time, Random: random,
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Five suites end in the same second, on a wire that is sometimes slow. Nothing fails:
// all that can go wrong is that one undoes another.
func TestSectionsSurviveContention(t *testing.T) {
	rounds := 20
	if testing.Short() || testrun.Race {
		rounds = 2
	}
	s := githubtest.New(t)
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(uint64(seed), 3))
		w := newWorld()
		s.Now = w.time
		s.ListLag = time.Duration(rng.IntN(2500)) * time.Millisecond
		n := s.AddPull(forge.Pull{Open: true, HeadBranch: "topic", HeadSHA: sha('a')})
		delay := func() time.Duration {
			if rng.IntN(5) == 0 {
				return time.Duration(rng.IntN(1400)) * time.Millisecond
			}
			return time.Duration(10+rng.IntN(200)) * time.Millisecond
		}
		var actors []func()
		for i := range 5 {
			c := contender(t, s, w, delay, rng.Float64)
			actors = append(actors, func() {
				if _, err := c.Report(t.Context(), n, forge.Section{Key: fmt.Sprint("suite-", i), Body: fmt.Sprint("words of ", i)}); err != nil {
					t.Errorf("writer %d: %v", i, err)
				}
			})
		}
		w.run(actors...)
		got := reports(s, n)
		if len(got) != 1 {
			t.Fatalf("seed %d: %d reports", seed, len(got))
		}
		for i := range 5 {
			if strings.Count(got[0].Body, fmt.Sprint("words of ", i)) != 1 {
				t.Fatalf("seed %d: section %d is not there once:\n%s", seed, i, got[0].Body)
			}
		}
	}
}

// What a look saw can be old when its answer comes: a write based on it would undo what
// was written and settled meanwhile.
func TestOldLooksAreNotWritten(t *testing.T) {
	s := githubtest.New(t)
	w := newWorld()
	s.Now = w.time
	n := s.AddPull(forge.Pull{Open: true, HeadBranch: "topic", HeadSHA: sha('a')})
	s.AddComment(n, s.Login, "<!-- pawl:report -->\n")
	ways := 0
	slow := func() time.Duration { // the report, which is the third answer, is long on its way back
		if ways++; ways == 6 {
			return 20 * time.Second
		}
		return 10 * time.Millisecond
	}
	quick := func() time.Duration { return 10 * time.Millisecond }
	a := contender(t, s, w, slow, func() float64 { return 0 })
	b := contender(t, s, w, quick, func() float64 { return 0 })
	w.run(func() {
		if _, err := a.Report(t.Context(), n, forge.Section{Key: "a", Body: "words of a"}); err != nil {
			t.Error(err)
		}
	}, func() {
		_ = w.sleep(t.Context(), 2*time.Second)
		if _, err := b.Report(t.Context(), n, forge.Section{Key: "b", Body: "words of b"}); err != nil {
			t.Error(err)
		}
		if w.time().Sub(newWorld().now) > 20*time.Second {
			t.Error("the quick writer was not done before the slow one got its answer: this tests nothing")
		}
	})
	got := reports(s, n)
	if len(got) != 1 || !strings.Contains(got[0].Body, "words of a") || !strings.Contains(got[0].Body, "words of b") {
		t.Errorf("%+v", got)
	}
}

// A writer on a slow wire undoes one on a fast wire, seconds after that has seen its own
// section in place: it must not have left yet.
func TestLateUndoingIsSeen(t *testing.T) {
	s := githubtest.New(t)
	w := newWorld()
	s.Now = w.time
	n := s.AddPull(forge.Pull{Open: true, HeadBranch: "topic", HeadSHA: sha('a')})
	s.AddComment(n, s.Login, "<!-- pawl:report -->\n")
	ways := 0
	slow := func() time.Duration {
		switch ways++; ways {
		case 4: // the report comes back
			return 1300 * time.Millisecond
		case 5: // the write goes there
			return 1400 * time.Millisecond
		}
		return 10 * time.Millisecond
	}
	a := contender(t, s, w, slow, func() float64 { return 0 })
	b := contender(t, s, w, func() time.Duration { return 10 * time.Millisecond }, func() float64 { return 0 })
	w.run(func() {
		if _, err := a.Report(t.Context(), n, forge.Section{Key: "a", Body: "words of a"}); err != nil {
			t.Error(err)
		}
	}, func() {
		_ = w.sleep(t.Context(), 20*time.Millisecond)
		if _, err := b.Report(t.Context(), n, forge.Section{Key: "b", Body: "words of b"}); err != nil {
			t.Error(err)
		}
	})
	got := reports(s, n)
	if len(got) != 1 || !strings.Contains(got[0].Body, "words of a") || !strings.Contains(got[0].Body, "words of b") {
		t.Errorf("%+v", got)
	}
}
