package wake

import (
	"strings"
	"testing"
	"time"
)

const oneHost = `
version: 1
github: {token: {env: T}, repositories: [o/kernels]}
hosts:
  - {name: a, labels: [gpu], start: a, stop: b, status: c, price_per_hour: 2, boot: 5m, halt: 2m, idle: 10m, ask: 10s, timeout: 1m}
budget: {least: 10m, margin: 3m, `

// A start needs boot, least, halt and margin: here 20 minutes.
func TestBudgetOfAStart(t *testing.T) {
	for name, c := range map[string]struct {
		budget string
		spent  time.Duration
		clock  string
		want   []string
	}{
		"enough hours":                   {"hours_per_day: 2}", 100 * time.Minute, "12:00:00", []string{"start a"}},
		"a second too few":               {"hours_per_day: 2}", 100*time.Minute + time.Second, "12:00:00", nil},
		"enough dollars":                 {"dollars_per_day: 4}", 100 * time.Minute, "12:00:00", []string{"start a"}},
		"too few dollars":                {"dollars_per_day: 4}", 101 * time.Minute, "12:00:00", nil},
		"hours, and too few dollars":     {"hours_per_day: 20, dollars_per_day: 4}", 101 * time.Minute, "12:00:00", nil},
		"the rest is for the next day":   {"hours_per_day: 2}", 114 * time.Minute, "23:55:00", []string{"start a"}},
		"not even until midnight":        {"hours_per_day: 2}", 116 * time.Minute, "23:55:00", nil},
		"yesterday's costs do not count": {"hours_per_day: 2}", 0, "00:00:00", []string{"start a"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := begin(t, oneHost+c.budget)
			clock, err := time.Parse(time.TimeOnly, c.clock)
			if err != nil {
				t.Fatal(err)
			}
			p.now = time.Date(2026, 11, 15, clock.Hour(), clock.Minute(), clock.Second(), 0, time.UTC)
			if c.spent == 0 {
				p.now = p.now.Add(-time.Second)
				c.spent = 2 * time.Hour
			}
			p.tell(Tick{})
			p.state.Day.On["a"] = c.spent
			d := p.job(1, Queued)
			d.Job.Labels = []string{"gpu"}
			p.tell(d)
			if c.clock == "00:00:00" {
				p.want()
				p.now = p.now.Add(time.Second)
				p.wait(30 * time.Second)
			}
			p.want(c.want...)
			if told := strings.Contains(strings.Join(p.said, "\n"), "waits: the budget of"); told != (len(c.want) == 0 || c.clock == "00:00:00") {
				t.Errorf("said %q", p.said)
			}
		})
	}
}

// The promise: a host is stopped so early that it is off in time, also under a job;
// with a grace the job has that much more.
func TestBudgetEnds(t *testing.T) {
	for name, c := range map[string]struct {
		budget  string
		running bool
		want    time.Duration // until it is stopped
	}{
		"an idle host":           {"hours_per_day: 1}", false, 10 * time.Minute},
		"under a job":            {"hours_per_day: 1}", true, 55 * time.Minute},
		"in dollars":             {"dollars_per_day: 2}", true, 55 * time.Minute},
		"a job with grace":       {"hours_per_day: 1, grace: 30m}", true, 85 * time.Minute},
		"an idle host has none":  {"hours_per_day: 0.4, grace: 30m}", false, 10 * time.Minute},
		"nor one that just came": {"hours_per_day: 0.2, least: 1s, grace: 30m}", false, 7 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			text := oneHost + c.budget
			if strings.Contains(c.budget, "least") {
				text = strings.Replace(text, "least: 10m, ", "", 1)
			}
			p := begin(t, text)
			p.power["a"] = On
			if c.running {
				d := p.job(1, Running)
				d.Job.Labels = []string{"gpu"}
				p.tell(d)
			}
			began := p.now
			for len(p.did) == 0 && p.now.Sub(began) < 3*time.Hour {
				p.wait(5 * time.Second)
			}
			if got := p.now.Sub(began); got < c.want || got > c.want+20*time.Second {
				t.Errorf("stopped after %v, want %v; said %q", got, c.want, p.said)
			}
			if lost := strings.Contains(strings.Join(p.said, "\n"), "stopping although a job is running, which is lost"); lost != c.running {
				t.Errorf("said %q", p.said)
			}
		})
	}
}

// A command on its way must end before a host can be stopped: its time is kept ready.
func TestBudgetKeepsTimeForACommand(t *testing.T) {
	p := begin(t, oneHost+"hours_per_day: 2}")
	p.tell(Tick{})
	h := p.state.host("a")
	h.meter(p.now, p.now)
	still := p.state.bound(p.config, p.now).time
	h.Flight = &RunningCommand{Kind: Start, Since: p.now}
	if got := p.state.bound(p.config, p.now).time; still != 5*time.Minute || got != 6*time.Minute {
		t.Errorf("%v without a command and %v with one, want 5m and 6m", still, got)
	}
}

// A host is paid for from when it was last seen off, by days.
func TestWhatIsPaidFor(t *testing.T) {
	p := begin(t, oneHost+"hours_per_day: 24}")
	p.now = time.Date(2026, 11, 15, 23, 0, 0, 0, time.UTC)
	p.tell(Tick{})
	p.power["a"] = On // by hand, just after the check
	p.now = p.now.Add(time.Minute)
	p.tell(Tick{})
	if got := p.state.spent(p.config, p.now).time; got != time.Minute {
		t.Errorf("%v, want the minute between the two checks", got)
	}
	d := p.job(1, Running)
	d.Job.Labels = []string{"gpu"}
	p.tell(d)
	p.wait(59 * time.Minute)
	if got := p.state.spent(p.config, p.now).time; got.Round(time.Minute) != time.Hour {
		t.Errorf("%v on the first day, want an hour", got)
	}
	p.wait(30 * time.Minute)
	if got := p.state.spent(p.config, p.now).time; got.Round(time.Minute) != 30*time.Minute {
		t.Errorf("%v on the second day, want half an hour", got)
	}
	p.power["a"] = Off
	p.wait(2 * time.Minute)
	settled := p.state.Day.On["a"]
	p.now = p.now.Add(-time.Hour) // a clock that goes back takes nothing away
	p.tell(Tick{})
	if got := p.state.spent(p.config, p.now).time; got != settled || settled < 30*time.Minute {
		t.Errorf("%v, want the %v that were settled", got, settled)
	}
}
