package placement

import "time"

// A Cost is what a lease takes from a budget.
type Cost struct {
	Seconds float64 `json:"seconds"`
	Money   float64 `json:"money"`
}

// A Budget is what a project may use on one day, over all models, and what it has used and reserved. A lease reserves
// its worst case and returns what it did not use, so that a day's leases never cost more than the limit. Days are in UTC;
// a lease belongs to the day on which it was granted.
type Budget struct {
	Limit Cost      `json:"limit"` // zero means no limit
	Day   time.Time `json:"day"`
	Used  Cost      `json:"used"` // with what is reserved
}

// Reserve takes a cost from the budget of today. It reports false if the budget does not allow it before the next day.
func (b *Budget) Reserve(c Cost, now time.Time) bool {
	b.turn(now)
	used := Cost{b.Used.Seconds + c.Seconds, b.Used.Money + c.Money}
	if b.Limit.Seconds > 0 && used.Seconds > b.Limit.Seconds || b.Limit.Money > 0 && used.Money > b.Limit.Money {
		return false
	}
	b.Used = used
	return true
}

// Settle returns what a lease that was granted at start did not use.
func (b *Budget) Settle(reserved Cost, seconds float64, start time.Time) {
	if !b.Day.Equal(day(start)) || reserved.Seconds <= 0 {
		return
	}
	unused := 1 - min(max(seconds, 0), reserved.Seconds)/reserved.Seconds
	b.Used.Seconds = max(0, b.Used.Seconds-unused*reserved.Seconds)
	b.Used.Money = max(0, b.Used.Money-unused*reserved.Money)
}

// UsedOn returns what was used and reserved on the day of a time.
func (b *Budget) UsedOn(now time.Time) Cost {
	if day(now).After(b.Day) {
		return Cost{}
	}
	return b.Used
}

// Until returns when a budget that was refused at a time is full again.
func Until(now time.Time) time.Time { return day(now).AddDate(0, 0, 1) }

func (b *Budget) turn(now time.Time) {
	if today := day(now); today.After(b.Day) {
		b.Day, b.Used = today, Cost{}
	}
}

func day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }
