package placement

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// schedules is how many seeded schedules each property is checked on.
const schedules = 1000

// A schedule is a random sequence of events for one placer, with budgets as pawld keeps them.
type schedule struct {
	t       *testing.T
	r       *rand.Rand
	s       *State
	now     time.Time
	budgets map[string]*Budget
	spent   map[string]Cost // by project and day: what its leases used at worst, settled
	asked   int
	waits   map[string]time.Time // by project: since when it has had a request without any lease
	longest time.Duration
}

func newSchedule(t *testing.T, seed uint64) *schedule {
	t.Helper()
	return &schedule{t: t, r: rand.New(rand.NewPCG(seed, 22)), s: &State{}, now: noon, budgets: map[string]*Budget{}, spent: map[string]Cost{}, waits: map[string]time.Time{}}
}

func (x *schedule) project() string { return string(rune('a' + x.r.IntN(5))) }

// step runs an event and everything that follows from it, then checks what must always hold.
func (x *schedule) step(e Event) {
	events := []Event{e}
	for len(events) > 0 {
		granted, expired := x.s.Step(events[0], x.now)
		events = events[1:]
		for _, l := range expired {
			x.settle(l, float64(l.Seconds))
		}
		for _, l := range granted {
			if !x.budget(l.Project).Reserve(l.Cost(), x.now) {
				events = append(events, Refuse{l.Lease, Until(x.now)})
				continue
			}
			x.spend(l, l.Cost(), 1)
			if since, ok := x.waits[l.Project]; ok {
				x.longest = max(x.longest, x.now.Sub(since))
				delete(x.waits, l.Project)
			}
		}
	}
	for _, r := range x.s.Requests {
		if _, ok := x.waits[r.Project]; !ok && r.Held.IsZero() {
			x.waits[r.Project] = x.now
		}
	}
	x.check()
}

func (x *schedule) budget(project string) *Budget {
	b := x.budgets[project]
	if b == nil {
		b = &Budget{}
		x.budgets[project] = b
	}
	return b
}

func (x *schedule) spend(l Lease, c Cost, sign float64) {
	key := l.Project + day(l.Start).String()
	x.spent[key] = Cost{x.spent[key].Seconds + sign*c.Seconds, x.spent[key].Money + sign*c.Money}
}

func (x *schedule) settle(l Lease, seconds float64) {
	x.budget(l.Project).Settle(l.Cost(), seconds, l.Start)
	unused := 1 - seconds/float64(l.Seconds)
	x.spend(l, Cost{l.Cost().Seconds * unused, l.Cost().Money * unused}, -1)
}

func (x *schedule) check() {
	x.t.Helper()
	var devices, hosts []string
	for _, l := range x.s.Leases {
		if slices.Contains(devices, l.Device) || slices.Contains(hosts, l.Host) {
			x.t.Fatalf("two leases of device %s or host %s", l.Device, l.Host)
		}
		devices, hosts = append(devices, l.Device), append(hosts, l.Host)
		if slices.ContainsFunc(x.s.Requests, func(r Request) bool { return r.Lease == l.Lease }) {
			x.t.Fatalf("%s waits and runs", l.Lease)
		}
	}
	for key, c := range x.spent {
		limit := x.budget(key[:1]).Limit
		if limit.Seconds > 0 && c.Seconds > limit.Seconds+1e-6 || limit.Money > 0 && c.Money > limit.Money+1e-6 {
			x.t.Fatalf("project %s used %+v of %+v", key, c, limit)
		}
	}
}

func (x *schedule) ask() {
	x.asked++
	x.step(Ask{Request{Lease: fmt.Sprint(x.asked), Project: x.project(), Priority: x.r.IntN(6), Seconds: 60 + x.r.IntN(540)}})
}

// end finishes a random lease in a random way; some are never given back.
func (x *schedule) end() {
	if len(x.s.Leases) == 0 {
		return
	}
	l := x.s.Leases[x.r.IntN(len(x.s.Leases))]
	used := min(float64(l.Seconds), x.now.Sub(l.Start).Seconds())
	switch x.r.IntN(10) {
	case 0:
		x.settle(l, used)
		x.step(Release{Lease: l.Lease, Seconds: used, Failed: true, Lost: true})
	case 1:
		x.settle(l, 0)
		x.step(Withdraw{l.Lease})
	case 2: // its gate was terminated
	default:
		x.settle(l, used)
		x.step(Release{Lease: l.Lease, Seconds: used})
	}
}

func (x *schedule) table(devices int, healthy bool) {
	var t Table
	for i := range devices {
		d := Device{ID: fmt.Sprint(i), Host: fmt.Sprint("h", i/2), Power: Ready, Price: float64(i), Seen: x.now}
		if !healthy && x.r.IntN(4) == 0 {
			d.Power = []Power{Closed, Asleep}[x.r.IntN(2)]
		}
		t.Devices = append(t.Devices, d)
	}
	x.step(t)
}

func TestSchedules_BudgetsAndDevices(t *testing.T) {
	for seed := range uint64(schedules) {
		x := newSchedule(t, seed)
		for p := range 5 {
			if x.r.IntN(2) == 0 {
				x.budgets[string(rune('a'+p))] = &Budget{Limit: Cost{Seconds: 600 + 3000*x.r.Float64(), Money: 3 * x.r.Float64()}}
			}
		}
		devices := 1 + x.r.IntN(8)
		x.table(devices, false)
		for range 120 {
			x.now = x.now.Add(time.Duration(x.r.IntN(600)) * time.Second)
			switch x.r.IntN(8) {
			case 0, 1, 2:
				x.ask()
			case 3, 4, 5:
				x.end()
			case 6:
				x.table(devices, false)
			case 7:
				if n := len(x.s.Requests); n > 0 && x.r.IntN(3) == 0 {
					x.step(Withdraw{x.s.Requests[x.r.IntN(n)].Lease})
				} else {
					x.step(Tick{})
				}
			}
		}
		// With all devices on and every lease given back, everything that the budgets allow starts.
		clear(x.budgets)
		clear(x.spent)
		for i := 0; len(x.s.Requests)+len(x.s.Leases) > 0; i++ {
			if i > 5000 {
				t.Fatalf("seed %d: %d requests never started", seed, len(x.s.Requests))
			}
			x.now = x.now.Add(time.Minute)
			x.table(devices, true)
			for _, l := range slices.Clone(x.s.Leases) {
				x.step(Release{Lease: l.Lease, Seconds: 60})
			}
		}
	}
}

func TestSchedules_NoProjectStarves(t *testing.T) {
	var longest time.Duration
	for seed := range uint64(schedules) {
		x := newSchedule(t, seed)
		x.table(1, true)
		for i := range 150 { // more requests than the device can serve, most of them urgent ones of one project
			x.now = x.now.Add(time.Duration(x.r.IntN(180)) * time.Second)
			x.asked++
			r := Request{Lease: fmt.Sprint(x.asked), Project: "a", Priority: 1, Seconds: 60 + x.r.IntN(540)}
			if i%7 == 0 {
				r.Project, r.Priority = x.project(), 1+x.r.IntN(5)
			}
			x.step(Ask{r})
			for _, l := range slices.Clone(x.s.Leases) {
				if used := x.now.Sub(l.Start).Seconds(); used >= float64(l.Seconds)*0.8 {
					x.step(Release{Lease: l.Lease, Seconds: min(used, float64(l.Seconds))})
				}
			}
		}
		longest = max(longest, x.longest)
	}
	// 4 steps of priority, then turns of 5 projects with measurements of at most 10 minutes.
	if limit := 5*aging + 5*13*time.Minute; longest > limit {
		t.Errorf("a project waited %v for a lease, want at most %v", longest, limit)
	}
	t.Logf("longest wait of a project: %v", longest)
}
