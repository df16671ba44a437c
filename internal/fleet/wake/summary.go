package wake

import "time"

// Summary is the state as shown to people.
type Summary struct {
	Date    string        `json:"date"`
	Spent   float64       `json:"spent_hours"`
	Dollars float64       `json:"spent_dollars"`
	Hours   float64       `json:"hours_per_day,omitempty"`
	Limit   float64       `json:"dollars_per_day,omitempty"`
	Waiting int           `json:"waiting"` // jobs, including those that no host can take now
	Running int           `json:"running"`
	Hosts   []HostSummary `json:"hosts"`
}

// HostSummary is the part of a Summary about one host.
type HostSummary struct {
	Name    string    `json:"name"`
	Power   Power     `json:"power"` // last known value; empty if unknown
	Asked   time.Time `json:"asked,omitzero"`
	Waiting int       `json:"waiting"` // jobs assigned to it
	Running bool      `json:"running"` // a job runs on it, or may run on it
	Today   float64   `json:"hours_today"`
	Failed  int       `json:"failed_starts,omitempty"`
	Reason  string    `json:"reason,omitempty"`
}

// Summarize returns the summary of a state at a time. The caller must own the state, for example read
// from a file.
func Summarize(c *Config, s *State, now time.Time) Summary {
	s.account(now)
	spent := s.spent(c, now)
	sum := Summary{Date: s.Day.Date, Spent: spent.time.Hours(), Dollars: spent.dollars, Hours: c.Budget.Hours, Limit: c.Budget.Dollars}
	for _, j := range s.Jobs {
		switch j.Stage {
		case Queued:
			sum.Waiting++
		case Running:
			sum.Running++
		case Gone, Done:
		}
	}
	loads := s.assign(c, now)
	for i := range c.Hosts {
		hc := &c.Hosts[i]
		h, l := s.host(hc.Name), loads[hc.Name]
		today := s.Day.On[hc.Name]
		if !h.SettledUntil.IsZero() {
			today += max(0, now.Sub(h.SettledUntil))
		}
		sum.Hosts = append(sum.Hosts, HostSummary{
			Name: hc.Name, Power: h.phase(), Asked: h.SeenAt, Waiting: l.waiting, Running: l.running && !h.SettledUntil.IsZero(),
			Today: today.Hours(), Failed: h.Failures, Reason: h.Reason,
		})
	}
	return sum
}
