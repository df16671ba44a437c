package placement

import (
	"slices"
	"time"
)

// A Waiting is a request's place in the queue.
type Waiting struct {
	Lease    string    `json:"lease"`
	Gate     string    `json:"gate"`
	Project  string    `json:"project"`
	Position int       `json:"position"`
	Since    time.Time `json:"since"`
	Start    time.Time `json:"start,omitzero"` // latest start if every measurement takes its longest time; zero if no device is ready
	Reason   string    `json:"reason"`
}

// Reasons for which a request waits.
const (
	Busy     = "all devices of the model are in use"
	NoBudget = "the budget of the project is used up for today"
	Wake     = "the hosts of the model are off: wake one"
	None     = "no device of the model is ready"

	AllQuarantined = "the devices of the model are in quarantine, because their calibrations failed"
)

// Queue returns the waiting requests in the order in which they would start.
func (s *State) Queue(now time.Time) []Waiting {
	sim := State{Shares: slices.Clone(s.Shares), Requests: slices.Clone(s.Requests), Floor: s.Floor}
	free := s.freeTimes(now)
	reason := Busy
	if len(free) == 0 {
		reason = None
		if slices.ContainsFunc(s.Devices, func(d Device) bool { return d.Power == Ready && d.Quarantine != "" }) {
			reason = AllQuarantined
		}
		if slices.ContainsFunc(s.Devices, func(d Device) bool { return d.Power == Asleep }) {
			reason = Wake
		}
	}
	var list []Waiting
	for len(sim.Requests) > 0 {
		i := sim.next(now)
		w := Waiting{Position: len(list) + 1, Reason: reason}
		if i < 0 { // only requests without budget are left
			i, w.Reason = 0, NoBudget
			w.Start = sim.Requests[0].Held
		} else if len(free) > 0 {
			slices.SortFunc(free, time.Time.Compare)
			w.Start = free[0]
			free[0] = free[0].Add(time.Duration(sim.Requests[i].Seconds) * time.Second)
		}
		r := sim.Requests[i]
		w.Lease, w.Gate, w.Project, w.Since = r.Lease, r.Gate, r.Project, r.At
		sim.share(r.Project).Used += int64(r.Seconds)
		sim.Requests = slices.Delete(sim.Requests, i, i+1)
		list = append(list, w)
	}
	return list
}

// freeTimes returns for each host with a device that gates can use when it is free at the latest.
func (s *State) freeTimes(now time.Time) []time.Time {
	var hosts []string
	var free []time.Time
	for _, d := range s.Devices {
		if d.Power != Ready || d.Quarantine != "" || s.isLost(d, now) || d.Host != "" && slices.Contains(hosts, d.Host) {
			continue
		}
		hosts = append(hosts, d.Host)
		t := now
		for _, l := range s.Leases {
			end := l.Start.Add(time.Duration(l.Seconds) * time.Second)
			if end.After(t) && (l.Device == d.ID || d.Host != "" && l.Host == d.Host) {
				t = end
			}
		}
		free = append(free, t)
	}
	return free
}
