package placement

import (
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/fleet/tier"
)

// A Waiting is a request's place in the queue.
type Waiting struct {
	Lease    string    `json:"lease"`
	Gate     string    `json:"gate"`
	Project  string    `json:"project"`
	Tier     tier.Tier `json:"tier,omitzero"`
	Only     string    `json:"only,omitzero"`    // the device that it needs; empty for any
	Seconds  int       `json:"seconds,omitzero"` // longest time of its measurement
	Position int       `json:"position"`
	Since    time.Time `json:"since"`
	Start    time.Time `json:"start,omitzero"` // latest start if every measurement takes its longest time; zero if no device is ready
	Reason   string    `json:"reason"`
}

// Reasons for which a request waits.
const (
	Busy     = "all devices of the model are in use"
	NoBudget = "the budget of the project is used up for today"
	Wake     = "the hosts of the model are off, and one has to start"
	None     = "no device of the model is ready"
	NoHost   = "no host with a device of the model serves this tier"

	AllQuarantined = "the devices of the model are in quarantine, because their calibrations failed"
)

// MaxWaiting is how many gates may wait for a model. A placer keeps its queue in one payload of Temporal, which refuses
// more than 2 MiB.
const MaxWaiting = 3000

// Queue returns the waiting requests in the order in which they would start.
func (s *State) Queue(now time.Time) []Waiting {
	supplies := map[tier.Tier]*supply{}
	var list []Waiting
	requests, funded := s.order(now)
	for i, r := range requests {
		w := Waiting{Lease: r.Lease, Gate: r.Gate, Project: r.Project, Tier: r.Tier, Only: r.Only, Seconds: r.Seconds, Position: i + 1, Since: r.At, Start: r.Held, Reason: NoBudget}
		if i < funded {
			if supplies[r.Tier] == nil {
				supplies[r.Tier] = s.supply(r.Tier, now)
			}
			w.Start, w.Reason = supplies[r.Tier].take(r.Seconds)
		}
		list = append(list, w)
	}
	return list
}

// supply is what the devices of one tier can do for a queue.
type supply struct {
	free   []time.Time // of each host, at the latest
	reason string      // why requests wait
}

func (s *State) supply(t tier.Tier, now time.Time) *supply {
	free := s.freeTimes(t, now)
	if len(free) > 0 {
		return &supply{free, Busy}
	}
	has := func(is func(Device) bool) bool {
		return slices.ContainsFunc(s.Devices, func(d Device) bool { return tier.Serves(d.Tier, t) && is(d) })
	}
	switch {
	case len(s.Devices) > 0 && !has(func(Device) bool { return true }):
		return &supply{reason: NoHost}
	case has(func(d Device) bool { return d.Power == Asleep && d.Quarantine == "" }):
		return &supply{reason: Wake}
	case has(func(d Device) bool { return d.Power != Closed && d.Quarantine != "" }):
		return &supply{reason: AllQuarantined}
	}
	return &supply{reason: None}
}

// take uses the host that is free first, and returns when that is; zero if there is none.
func (s *supply) take(seconds int) (start time.Time, reason string) {
	if len(s.free) == 0 {
		return time.Time{}, s.reason
	}
	slices.SortFunc(s.free, time.Time.Compare)
	start = s.free[0]
	s.free[0] = start.Add(time.Duration(seconds) * time.Second)
	return start, s.reason
}

// freeTimes returns for each host with a device that gates of a tier can use when it is free at the latest.
func (s *State) freeTimes(t tier.Tier, now time.Time) []time.Time {
	var hosts []string
	var free []time.Time
	for _, d := range s.Devices {
		if d.Power != Ready || !d.usable(t) || s.isLost(d, now) || d.Host != "" && slices.Contains(hosts, d.Host) {
			continue
		}
		hosts = append(hosts, d.Host)
		end := now
		for _, l := range s.Leases {
			until := l.Start.Add(time.Duration(l.Seconds) * time.Second)
			if until.After(end) && (l.Device == d.ID || d.Host != "" && l.Host == d.Host) {
				end = until
			}
		}
		free = append(free, end)
	}
	return free
}
