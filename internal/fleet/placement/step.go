package placement

import (
	"cmp"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/fleet/tier"
)

// An Event is an input of Step: Ask, Withdraw, Release, Refuse, Table or Tick.
type Event interface{ event() }

// Ask puts a request into the queue. Asking again for the same lease is harmless.
type Ask struct{ Request }

// Withdraw removes a request, or frees its lease.
type Withdraw struct {
	Lease string `json:"lease"`
}

// Release gives a lease back.
type Release struct {
	Lease   string  `json:"lease"`
	Seconds float64 `json:"seconds"`       // time used
	Failed  bool    `json:"failed"`        // the device did not take the lease, or lost it
	Lost    bool    `json:"lost,omitzero"` // its agent is gone
}

// Refuse takes back a lease whose cost exceeds the budget of its project. The request waits until a time.
type Refuse struct {
	Lease string
	Until time.Time
}

// Table is what the table of devices says now.
type Table struct{ Devices []Device }

// Tick only advances the time.
type Tick struct{}

func (Ask) event()      {}
func (Withdraw) event() {}
func (Release) event()  {}
func (Refuse) event()   {}
func (Table) event()    {}
func (Tick) event()     {}

// Step processes an event and returns the leases that it grants. The caller reserves the cost of each and answers with
// Refuse if the budget does not allow it. Leases that ended without a Release are returned as expired.
func (s *State) Step(e Event, now time.Time) (granted, expired []Lease) {
	expired = s.expire(now)
	switch e := e.(type) {
	case Ask:
		if l := s.lease(e.Lease); l != nil {
			granted = append(granted, *l) // its answer was lost
		} else {
			s.ask(e.Request, now)
		}
	case Withdraw:
		s.Requests = slices.DeleteFunc(s.Requests, func(r Request) bool { return r.Lease == e.Lease })
		s.free(e.Lease, 0)
	case Release:
		if l := s.lease(e.Lease); l != nil && (e.Failed || e.Lost) {
			s.fail(l.Device, e.Lost, now)
		}
		s.free(e.Lease, e.Seconds)
	case Refuse:
		if l := s.lease(e.Lease); l != nil {
			r := l.Request
			r.Held = e.Until
			s.free(e.Lease, 0)
			s.Requests = append(s.Requests, r)
			slices.SortStableFunc(s.Requests, func(a, b Request) int { return a.At.Compare(b.At) })
		}
	case Table:
		s.table(e.Devices)
	case Tick:
	}
	return append(granted, s.place(now)...), expired
}

// Next returns when Step must run again though nothing happened; zero if never.
func (s *State) Next() time.Time {
	var next time.Time
	sooner := func(t time.Time) {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}
	for _, l := range s.Leases {
		sooner(l.Until)
	}
	for _, r := range s.Requests {
		sooner(r.Held)
	}
	return next
}

func (s *State) lease(id string) *Lease {
	if i := slices.IndexFunc(s.Leases, func(l Lease) bool { return l.Lease == id }); i >= 0 {
		return &s.Leases[i]
	}
	return nil
}

func (s *State) ask(r Request, now time.Time) {
	if slices.ContainsFunc(s.Requests, func(old Request) bool { return old.Lease == r.Lease }) {
		return
	}
	r.At, r.Held, r.Tier = now, time.Time{}, cmp.Or(r.Tier, tier.Own)
	if r.Priority < 1 || r.Priority > 5 {
		r.Priority = 3
	}
	if !slices.ContainsFunc(s.Requests, func(old Request) bool { return old.Project == r.Project }) {
		share := s.share(r.Project)
		share.Used = max(share.Used, s.Floor) // time without requests earns no credit
	}
	s.Requests = append(s.Requests, r)
}

// expire frees leases that were never given back. They count as used in full.
func (s *State) expire(now time.Time) (list []Lease) {
	for _, l := range s.Leases {
		if !now.Before(l.Until) {
			list = append(list, l)
		}
	}
	for _, l := range list {
		s.free(l.Lease, float64(l.Seconds))
	}
	return list
}

// free ends a lease and returns what it did not use to the share of its project.
func (s *State) free(id string, seconds float64) {
	l := s.lease(id)
	if l == nil {
		return
	}
	unused := max(0, int64(l.Seconds)-int64(max(0, seconds)))
	share := s.share(l.Project)
	share.Used -= unused
	s.Leases = slices.DeleteFunc(s.Leases, func(l Lease) bool { return l.Lease == id })
	s.forget()
}

func (s *State) fail(device string, lost bool, now time.Time) {
	s.Failed = slices.DeleteFunc(s.Failed, func(f Failure) bool { return f.Device == device })
	s.Failed = append(s.Failed, Failure{device, now, lost})
}

func (s *State) table(devices []Device) {
	s.Devices = slices.Clone(devices)
	slices.SortFunc(s.Devices, func(a, b Device) int { return cmp.Compare(a.ID, b.ID) })
	s.Failed = slices.DeleteFunc(s.Failed, func(f Failure) bool {
		return !slices.ContainsFunc(s.Devices, func(d Device) bool { return d.ID == f.Device })
	})
}

// share returns the share of a project. It is valid until the next call.
func (s *State) share(project string) *Share {
	i := slices.IndexFunc(s.Shares, func(p Share) bool { return p.Project == project })
	if i < 0 {
		s.Shares = append(s.Shares, Share{Project: project, Used: s.Floor})
		i = len(s.Shares) - 1
	}
	return &s.Shares[i]
}

// forget removes the shares of projects that have nothing here and no debt.
func (s *State) forget() {
	s.Shares = slices.DeleteFunc(s.Shares, func(p Share) bool {
		return p.Used <= s.Floor &&
			!slices.ContainsFunc(s.Requests, func(r Request) bool { return r.Project == p.Project }) &&
			!slices.ContainsFunc(s.Leases, func(l Lease) bool { return l.Project == p.Project })
	})
}
