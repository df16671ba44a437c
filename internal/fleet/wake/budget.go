package wake

import "time"

// Day records the usage of one UTC day.
type Day struct {
	Date  string                   `json:"date"`
	On    map[string]time.Duration `json:"on"`              // settled time by host
	Ended time.Time                `json:"ended,omitzero"`  // when the budget was used up
	Short bool                     `json:"short,omitempty"` // jobs wait that the budget cannot pay for
}

// amount is host time and its cost.
type amount struct {
	time    time.Duration
	dollars float64
}

func amountOf(d time.Duration, h *HostConfig) amount {
	return amount{d, d.Hours() * h.Price}
}

func (a amount) plus(b amount) amount { return amount{a.time + b.time, a.dollars + b.dollars} }

func (a amount) within(b Budget) bool {
	return (b.Hours == 0 || a.time.Hours() <= b.Hours) && (b.Dollars == 0 || a.dollars <= b.Dollars)
}

// startNeeds returns the time that must be left for a start to be worth it: to boot, to be useful for a
// while and to be off again, even if pawl wake is down at the wrong moment.
func (c *Config) startNeeds(h *HostConfig) time.Duration {
	return max(h.Boot+c.Budget.Least, h.Timeout) + h.Halt + c.Budget.Margin
}

// stopNeeds returns how long a host may still be on if it is stopped as soon as possible: a running
// command must end first.
func (c *Config) stopNeeds(h *HostConfig, s *Host) time.Duration {
	need := h.Halt + c.Budget.Margin
	if s.Flight != nil {
		need += h.Timeout
	}
	return need
}

func midnight(now time.Time) time.Time {
	return now.UTC().Truncate(24 * time.Hour).Add(24 * time.Hour)
}

// account starts a new day with nothing spent. A clock that goes back changes nothing.
func (s *State) account(now time.Time) {
	date := now.UTC().Format(time.DateOnly)
	if date <= s.Day.Date {
		return
	}
	s.Day = Day{Date: date, On: map[string]time.Duration{}}
	begin := midnight(now).Add(-24 * time.Hour)
	for _, h := range s.Hosts {
		if !h.SettledUntil.IsZero() && h.SettledUntil.Before(begin) {
			h.SettledUntil = begin
		}
	}
}

// meter starts to count the time of a host that is on. It counts from when the host was last seen off,
// if known, because the host may have been on since then.
func (h *Host) meter(off, now time.Time) {
	if !h.SettledUntil.IsZero() {
		return
	}
	h.SettledUntil = now
	if !off.IsZero() && off.Before(now) {
		h.SettledUntil = later(off, midnight(now).Add(-24*time.Hour))
	}
}

// settle adds the time of a host that is off to the day and stops counting.
func (s *State) settle(name string, h *Host, now time.Time) {
	if !h.SettledUntil.IsZero() && now.After(h.SettledUntil) {
		s.Day.On[name] += now.Sub(h.SettledUntil)
	}
	h.SettledUntil = time.Time{}
}

// spent returns the cost of the day so far. Hosts that are no longer in the file are not included.
func (s *State) spent(c *Config, now time.Time) amount {
	var sum amount
	for i := range c.Hosts {
		hc := &c.Hosts[i]
		d := s.Day.On[hc.Name]
		if h := s.Hosts[hc.Name]; h != nil && !h.SettledUntil.IsZero() {
			d += max(0, now.Sub(h.SettledUntil))
		}
		sum = sum.plus(amountOf(d, hc))
	}
	return sum
}

// bound returns the cost of the day if every host is stopped as soon as possible. Time after midnight
// counts toward the next day.
func (s *State) bound(c *Config, now time.Time) amount {
	sum := s.spent(c, now)
	for i := range c.Hosts {
		hc := &c.Hosts[i]
		if h := s.host(hc.Name); !h.SettledUntil.IsZero() {
			sum = sum.plus(amountOf(min(c.stopNeeds(hc, h), midnight(now).Sub(now)), hc))
		}
	}
	return sum
}

// affords reports whether the day's budget covers a start.
func (s *State) affords(c *Config, hc *HostConfig, now time.Time) bool {
	need := min(c.startNeeds(hc), midnight(now).Sub(now))
	return s.bound(c, now).plus(amountOf(need, hc)).within(c.Budget)
}
