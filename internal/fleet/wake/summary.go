package wake

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

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
	Failed  int       `json:"failed_starts,omitempty"` // in a row
	Failing bool      `json:"failing,omitempty"`       // its last start, stop or status failed, or no status or no list of its jobs has come for long
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
			Today: today.Hours(), Failed: h.Failures, Failing: h.failing(hc, now) || !h.SettledUntil.IsZero() && !s.recentlyPolled(c, hc, now), Reason: h.Reason,
		})
	}
	return sum
}

// failing reports whether a person should look at a host if this lasts.
func (h *Host) failing(hc *HostConfig, now time.Time) bool {
	return h.Failures > 0 || h.StopFailures > 0 || h.Seen == Unknown || now.Sub(h.SeenAt) > max(10*time.Minute, 20*hc.Ask)
}

// Print writes the summary for people.
func (s Summary) Print(w io.Writer) error {
	limit := ""
	if s.Hours > 0 {
		limit += fmt.Sprintf(" of %g h", s.Hours)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s (UTC): %.2f h%s on, $%.2f", s.Date, s.Spent, limit, s.Dollars)
	if s.Limit > 0 {
		fmt.Fprintf(&b, " of $%.2f", s.Limit)
	}
	fmt.Fprintf(&b, "\n%d waiting, %d running\n", s.Waiting, s.Running)
	for _, h := range s.Hosts {
		power := string(h.Power)
		if power == "" {
			power = "unknown"
		}
		fmt.Fprintf(&b, "%-16s %-9s %5.2f h today", h.Name, power, h.Today)
		if h.Waiting > 0 {
			fmt.Fprintf(&b, ", %d waiting for it", h.Waiting)
		}
		if h.Running {
			b.WriteString(", a job is running")
		}
		if h.Reason != "" {
			b.WriteString(": " + words.Sanitize(h.Reason))
		}
		b.WriteString("\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}
