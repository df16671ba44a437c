package placement

import (
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/fleet/tier"
)

// place grants leases while a request can run and a device is free.
func (s *State) place(now time.Time) (granted []Lease) {
	for {
		r, d := s.match(now)
		if r < 0 {
			return granted
		}
		granted = append(granted, s.grant(s.Requests[r], s.Devices[d], now))
		s.Requests = slices.Delete(s.Requests, r, r+1)
	}
}

func (s *State) grant(r Request, d Device, now time.Time) Lease {
	l := Lease{Request: r, Device: d.ID, Host: d.Host, Price: d.Price, Start: now, Until: now.Add(time.Duration(r.Seconds)*time.Second + grace)}
	l.Held = time.Time{}
	s.Leases = append(s.Leases, l)
	share := s.share(r.Project)
	s.Floor = max(s.Floor, share.Used)
	share.Used += int64(r.Seconds)
	share.Served = now
	return l
}

// match returns the request that is next among those for which a device is free, and the device; -1 if there is none.
func (s *State) match(now time.Time) (request, device int) {
	request, device = -1, -1
	free, shares := map[tier.Tier]int{}, s.byProject()
	for i, r := range s.Requests {
		if now.Before(r.Held) || request >= 0 && !s.before(r, s.Requests[request], shares, now) {
			continue
		}
		d, known := free[r.Tier]
		if r.Only != "" || !known {
			d = s.device(r, now)
		}
		if r.Only == "" {
			free[r.Tier] = d
		}
		if d >= 0 {
			request, device = i, d
		}
	}
	return request, device
}

// device returns the index of the device to use next; -1 if none is free. A host measures on one card at a time,
// because neighbors could disturb each other. Cards that failed longest ago are first. Those in quarantine and those
// whose host serves another tier are left out. A calibration gets its own device or none.
func (s *State) device(r Request, now time.Time) int {
	devices, hosts := map[string]bool{}, map[string]bool{} // in use
	for _, l := range s.Leases {
		devices[l.Device], hosts[l.Host] = true, l.Host != ""
	}
	best := -1
	var bestFailed time.Time
	for i, d := range s.Devices {
		if r.Only == "" && !d.usable(r.Tier) || r.Only != "" && d.ID != r.Only {
			continue
		}
		if d.Power != Ready || devices[d.ID] || hosts[d.Host] || s.isLost(d, now) {
			continue
		}
		failed, _ := s.failure(d.ID)
		if best < 0 || failed.Before(bestFailed) {
			best, bestFailed = i, failed
		}
	}
	return best
}

// usable reports whether gates of a tier may use a device.
func (d Device) usable(t tier.Tier) bool { return d.Quarantine == "" && tier.Serves(d.Tier, t) }

// isLost reports whether a device has lost its agent. It is tried again when the agent is heard, or after some time.
func (s *State) isLost(d Device, now time.Time) bool {
	at, lost := s.failure(d.ID)
	return lost && !d.Seen.After(at) && now.Sub(at) < retryLost
}

func (s *State) failure(device string) (at time.Time, lost bool) {
	for _, f := range s.Failed {
		if f.Device == device {
			return f.At, f.Lost
		}
	}
	return time.Time{}, false
}
