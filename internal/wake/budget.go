package wake

import "time"

// Day is the account of one day of UTC.
type Day struct {
	Date  string                   `json:"date"`
	On    map[string]time.Duration `json:"on"`              // by host: what is settled
	Ended time.Time                `json:"ended,omitzero"`  // when the budget was used up
	Short bool                     `json:"short,omitempty"` // jobs wait for which it does not reach
}

// amount is time of hosts and what it costs.
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

// startNeeds is the time that must be left for a start to be worth it: it boots, is
// useful for a while and is off again, even if pawl wake is away at the wrong moment.
func (c *Config) startNeeds(h *HostConfig) time.Duration {
	return max(h.Boot+c.Budget.Least, h.Timeout) + h.Halt + c.Budget.Margin
}

// stopNeeds is the time a host may yet be on when it is to be off as soon as possible:
// a command on its way has to end first.
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

// account settles what is over: a new day begins with nothing spent. A clock that goes
// back changes nothing.
func (s *State) account(now time.Time) {
	date := now.UTC().Format(time.DateOnly)
	if date <= s.Day.Date {
		return
	}
	s.Day = Day{Date: date, On: map[string]time.Duration{}}
	begin := midnight(now).Add(-24 * time.Hour)
	for _, h := range s.Hosts {
		if !h.Paid.IsZero() && h.Paid.Before(begin) {
			h.Paid = begin
		}
	}
}

// meter begins to count the time of a host that is on: from when it was last seen off,
// where that is known, because it may be on since then.
func (h *Host) meter(off, now time.Time) {
	if !h.Paid.IsZero() {
		return
	}
	h.Paid = now
	if !off.IsZero() && off.Before(now) {
		h.Paid = later(off, midnight(now).Add(-24*time.Hour))
	}
}

// settle puts a host's time into the account and ends it: it is off.
func (s *State) settle(name string, h *Host, now time.Time) {
	if !h.Paid.IsZero() && now.After(h.Paid) {
		s.Day.On[name] += now.Sub(h.Paid)
	}
	h.Paid = time.Time{}
}

// spent is what the day has cost so far; a host that is in the file no more is not in it.
func (s *State) spent(c *Config, now time.Time) amount {
	var sum amount
	for i := range c.Hosts {
		hc := &c.Hosts[i]
		d := s.Day.On[hc.Name]
		if h := s.Hosts[hc.Name]; h != nil && !h.Paid.IsZero() {
			d += max(0, now.Sub(h.Paid))
		}
		sum = sum.plus(amountOf(d, hc))
	}
	return sum
}

// bound is what the day will have cost when every host is stopped as soon as possible.
// What falls behind midnight is for the next day to pay.
func (s *State) bound(c *Config, now time.Time) amount {
	sum := s.spent(c, now)
	for i := range c.Hosts {
		hc := &c.Hosts[i]
		if h := s.host(hc.Name); !h.Paid.IsZero() {
			sum = sum.plus(amountOf(min(c.stopNeeds(hc, h), midnight(now).Sub(now)), hc))
		}
	}
	return sum
}

// affords tells whether the day can pay for a start.
func (s *State) affords(c *Config, hc *HostConfig, now time.Time) bool {
	need := min(c.startNeeds(hc), midnight(now).Sub(now))
	return s.bound(c, now).plus(amountOf(need, hc)).within(c.Budget)
}
