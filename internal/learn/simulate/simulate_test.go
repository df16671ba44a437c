package simulate

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goatnote-inc/pawl/internal/learn/model"
)

// rates plays worlds and examines afterwards.
func rates(worlds, sessions, questions int, ranker func(*World) model.Ranker) Score {
	var all []Step
	for seed := range worlds {
		w := New(uint64(seed+1), Options{})
		r := ranker(w)
		Play(w, r, sessions)
		all = append(all, Examine(w, r, questions)...)
	}
	return Judge(all)
}

// The generator must stay what the page says: priors that are right about half of the time,
// and a ceiling that leaves room for the figures asked for.
func TestRatesOfTheBaselines(t *testing.T) {
	for _, c := range []struct {
		name      string
		ranker    func(*World) model.Ranker
		sessions  int
		low, high float64
	}{
		{"priors", func(*World) model.Ranker { return Priors{} }, 0, 0.45, 0.60},
		{"oracle", func(w *World) model.Ranker { return w.Oracle() }, 0, 0.92, 0.97},
		{"running mean", func(*World) model.Ranker { return NewRunningMean() }, 50, 0.55, 0.85},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := rates(200, c.sessions, 50, c.ranker)
			t.Logf("right in %.1f %%, regret %.3f", 100*s.Right, s.Regret)
			if s.Right < c.low || s.Right > c.high {
				t.Errorf("right in %.3f, want %.2f to %.2f", s.Right, c.low, c.high)
			}
		})
	}
}

func TestASeedIsAWorld(t *testing.T) {
	same := cmp.AllowUnexported(Session{}, whim{})
	a, b := New(7, Options{}), New(7, Options{})
	Play(b, NewRunningMean(), 0)
	for range 5 {
		if d := cmp.Diff(a.Session(), b.Session(), same); d != "" {
			t.Fatal(d)
		}
	}
	if cmp.Equal(New(7, Options{}).Session(), New(8, Options{}).Session(), same) {
		t.Error("two seeds gave one session")
	}
}

// Options add lessons and nothing else: what is compared with and without them is the same.
func TestOptionsMoveNoDraw(t *testing.T) {
	plain, with := New(3, Options{}), New(3, Options{Lessons: true, Poison: PoisonOwn})
	for range 50 {
		a, b := plain.Session(), with.Session()
		if got := b.Candidates[len(b.Candidates)-1].Fix; got != PoisonedFix {
			t.Fatalf("last candidate is %s", got)
		}
		b.Candidates = b.Candidates[:len(b.Candidates)-1]
		if d := cmp.Diff(a.Candidates, b.Candidates, cmpopts.IgnoreFields(model.Candidate{}, "Claims")); d != "" {
			t.Fatal(d)
		}
		for _, c := range a.Candidates {
			if !cmp.Equal(a.Try(c.Fix), b.Try(c.Fix)) || a.Gain(c.Fix) != b.Gain(c.Fix) {
				t.Fatalf("%s of %s differs", c.Fix, a.Kernel)
			}
		}
	}
}

func TestSessionsAreAsDescribed(t *testing.T) {
	w := New(11, Options{})
	sizes, tails, tries := map[int]int{}, 0, 0
	for range 3000 {
		s := w.Session()
		sizes[len(s.Candidates)]++
		best := s.Best()
		for _, c := range s.Candidates {
			if s.Gain(c.Fix) > s.Gain(best) {
				t.Fatalf("%s is better than the best", c.Fix)
			}
			if c.Prior <= 0 || c.Kernel != s.Kernel {
				t.Fatalf("candidate %+v of %s", c, s.Kernel)
			}
			o := s.Try(c.Fix)
			if o.Key != c.Key || o.Error < errorLeast || o.Error > errorMost {
				t.Fatalf("outcome %+v of %+v", o, c)
			}
			tries++
			if math.Abs(o.Gain-s.Gain(c.Fix)) > 4*o.Error {
				tails++
			}
		}
	}
	for n := fewestCandidates; n <= mostCandidates; n++ {
		if sizes[n] < 600 || sizes[n] > 900 {
			t.Errorf("%d sessions with %d candidates", sizes[n], n)
		}
	}
	// 5 % have five times the error, of which 42 % lie beyond four.
	if share := float64(tails) / float64(tries); share < 0.015 || share > 0.028 {
		t.Errorf("%.4f of the outcomes are far off", share)
	}
	if got := w.Session().Try("no-such/1"); !math.IsNaN(got.Gain) {
		t.Errorf("a fix that is no candidate gained %v", got.Gain)
	}
}

func TestPlayFollowsInFourOfFive(t *testing.T) {
	followed, tried := 0, 0
	for _, step := range Play(New(5, Options{}), Priors{}, 2000) {
		if len(step.Attempts) != attempts {
			t.Fatalf("%d attempts", len(step.Attempts))
		}
		if tried++; step.Attempts[0].Expected.Fix == step.Top {
			followed++
		}
	}
	if share := float64(followed) / float64(tried); share < 0.77 || share > 0.83 {
		t.Errorf("followed in %.3f", share)
	}
}

func TestPoison(t *testing.T) {
	for _, step := range Examine(New(1, Options{Poison: PoisonOwn}), believer{}, 50) {
		if step.Top != PoisonedFix || step.Place != 0 {
			t.Fatalf("who believes everything puts %s first, poison at %d", step.Top, step.Place)
		}
	}
	seen := 0
	for _, step := range Examine(New(1, Options{Poison: PoisonRule}), Priors{}, 200) {
		if step.Place >= 0 {
			seen++
		}
	}
	if seen < 20 {
		t.Errorf("the poisoned rule is a candidate in %d of 200", seen)
	}
}

// believer expects what lessons claim.
type believer struct{ Priors }

func (believer) Rank(all []model.Candidate) []model.Ranked {
	return rank(all, func(c model.Candidate) (float64, int) {
		for _, claim := range c.Claims {
			if claim.Lesson == PoisonedLesson {
				return 10, 0
			}
		}
		return c.Prior, 0
	})
}

func TestPasts(t *testing.T) {
	var early, late, gained, nothing []float64
	for seed := range 100 {
		for i, p := range Pasts(uint64(seed+1), 200) {
			if p.Minutes <= 0 || p.Speedup < 0 {
				t.Fatalf("%+v", p)
			}
			switch {
			case p.Speedup == 0:
				nothing = append(nothing, 1)
			case i >= 150:
				gained = append(gained, p.Speedup)
			}
			if i < 5 {
				early = append(early, p.Minutes)
			} else if i >= 195 {
				late = append(late, p.Minutes)
			}
		}
	}
	if e, l := mean(early), mean(late); l > 0.8*e {
		t.Errorf("sessions take %.0f minutes at first and %.0f late", e, l)
	}
	if g := mean(gained); g < 1.2 || g > 1.6 {
		t.Errorf("late sessions end at %.2fx", g)
	}
	if share := float64(len(nothing)) / 20000; share < 0.05 || share > 0.2 {
		t.Errorf("nothing was measured in %.3f", share)
	}
	if d := cmp.Diff(Pasts(4, 50), Pasts(4, 100)[:50]); d != "" {
		t.Error(d)
	}
}

func mean(all []float64) float64 {
	sum := 0.0
	for _, v := range all {
		sum += v
	}
	return sum / float64(len(all))
}
