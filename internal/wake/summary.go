package wake

import "time"

// Summary is the state as a person asks for it.
type Summary struct {
	Date    string        `json:"date"`
	Spent   float64       `json:"spent_hours"`
	Dollars float64       `json:"spent_dollars"`
	Hours   float64       `json:"hours_per_day,omitempty"`
	Limit   float64       `json:"dollars_per_day,omitempty"`
	Waiting int           `json:"waiting"` // jobs, also those that no host can take now
	Running int           `json:"running"`
	Hosts   []HostSummary `json:"hosts"`
}

// HostSummary is one host of it.
type HostSummary struct {
	Name    string    `json:"name"`
	Power   Power     `json:"power"` // as it was last known; empty where it is not
	Asked   time.Time `json:"asked,omitzero"`
	Waiting int       `json:"waiting"` // jobs that are meant for it
	Running bool      `json:"running"` // a job runs on it, or may
	Today   float64   `json:"hours_today"`
	Failed  int       `json:"failed_starts,omitempty"`
	Reason  string    `json:"reason,omitempty"`
}

// Summarise tells what a state means now. The state is the caller's own, read from a file.
func Summarise(c *Config, s *State, now time.Time) Summary {
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
		if !h.Paid.IsZero() {
			today += max(0, now.Sub(h.Paid))
		}
		sum.Hosts = append(sum.Hosts, HostSummary{
			Name: hc.Name, Power: h.phase(), Asked: h.SeenAt, Waiting: l.waiting, Running: l.running && !h.Paid.IsZero(),
			Today: today.Hours(), Failed: h.Failures, Reason: h.Reason,
		})
	}
	return sum
}
