package placement

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// crowd returns a state with so many waiting requests of so many projects, as seed draws them.
func crowd(seed uint64, requests, projects int) *State {
	r := rand.New(rand.NewPCG(seed, 1))
	s := &State{Floor: 500}
	for i := range projects {
		if i%3 > 0 {
			s.Shares = append(s.Shares, Share{Project: fmt.Sprint("p", i), Used: 500 + 60*r.Int64N(40), Served: noon.Add(-time.Duration(r.IntN(60)) * time.Minute)})
		}
	}
	for i := range requests {
		q := Request{Lease: fmt.Sprint(i), Project: fmt.Sprint("p", r.IntN(projects)), Priority: 1 + r.IntN(5), Seconds: 60 + r.IntN(600), At: noon.Add(time.Duration(i-requests) * time.Second)}
		if r.IntN(10) == 0 {
			q.Held = noon.Add(time.Hour)
		}
		s.Requests = append(s.Requests, q)
	}
	return s
}

// The order of the queue is what the rule gives when it takes one request after the other.
func TestOrder_IsTheRule(t *testing.T) {
	for seed := range uint64(300) {
		s := crowd(seed, 1+int(seed%40), 1+int(seed%7))
		list, funded := s.order(noon)
		rest, shares := slices.Clone(s.Requests), s.byProject()
		for i, got := range list {
			best := -1
			for k, r := range rest {
				if !noon.Before(r.Held) && (best < 0 || s.before(r, rest[best], shares, noon)) {
					best = k
				}
			}
			if best < 0 {
				if i != funded {
					t.Fatalf("seed %d: %d requests have budget, want %d", seed, funded, i)
				}
				best, funded = 0, funded+1
			}
			want := rest[best]
			if got.Lease != want.Lease {
				t.Fatalf("seed %d, place %d: %+v, want %+v", seed, i, got, want)
			}
			share := shares[want.Project]
			share.Used = s.used(want.Project, shares) + int64(want.Seconds)
			shares[want.Project] = share
			rest = slices.Delete(rest, best, best+1)
		}
		if len(rest) > 0 {
			t.Fatalf("seed %d: %d requests are not in the queue", seed, len(rest))
		}
	}
}

// What a placer does for a query and for a lease that ends, with the queue of a busy model: 125 cards, 1,354 waiting gates
// of 1,000 projects.
func BenchmarkQueue(b *testing.B) {
	s := busyModel()
	for b.Loop() {
		s.Queue(noon)
	}
}

func BenchmarkRelease(b *testing.B) {
	s := busyModel()
	for b.Loop() {
		l := s.Leases[0]
		s.Step(Release{Lease: l.Lease, Seconds: 100}, noon)
		b.StopTimer()
		l.Lease += "x"
		s.Step(Ask{l.Request}, noon)
		b.StartTimer()
	}
}

func busyModel() *State {
	s := crowd(1, 1354+125, 1000)
	for i := range s.Requests {
		s.Requests[i].Held = time.Time{}
	}
	table := Table{}
	for i := range 125 {
		table.Devices = append(table.Devices, Device{ID: fmt.Sprint("GPU-", i), Host: fmt.Sprint("h", i), Power: Ready, Seen: noon})
	}
	s.Step(table, noon)
	return s
}
