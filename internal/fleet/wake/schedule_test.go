package wake

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

const repo = "o/kernels"

// A thousand schedules in which webhooks are lost, doubled, late and reordered, polls
// fail and miss jobs, starts are slow, fail and hang, status lags and pawl wake is killed
// at any moment, also between a write and what it announced: every job is served, no host
// has two commands at a time or is started when it is not off, idle hosts go to sleep,
// no running job that was known is stopped before the budget ends, and the true bill of
// a day stays within its budget.
func TestSchedules(t *testing.T) {
	schedules := 1000
	if testrun.Race { // ten times slower, and sequential
		schedules = 60
	}
	t.Parallel()
	var starts, kills, lost, delivered, jobs, tight int
	for seed := range uint64(schedules) {
		w := newWorld(seed)
		w.live()
		for _, b := range w.broken {
			t.Errorf("seed %d: %s", seed, b)
		}
		starts, kills, lost, delivered, jobs = starts+w.starts, kills+w.kills, lost+w.lostJobs, delivered+w.delivered, jobs+len(w.jobs)
		if w.lostJobs > 0 {
			tight++
		}
		if t.Failed() && len(w.broken) > 0 {
			t.FailNow() // one seed says enough
		}
	}
	t.Logf("%d schedules: %d jobs, %d deliveries, %d starts, %d kills; stops ended %d jobs in %d schedules", schedules, jobs, delivered, starts, kills, lost, tight)
	if starts < schedules || kills < schedules || lost == 0 {
		t.Errorf("the schedules do not try what they are for: %d starts, %d kills, %d jobs lost to the budget", starts, kills, lost)
	}
}

func newWorld(seed uint64) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 7)), machines: map[string]*machine{}, now: time.Date(2026, 11, 15, 21, 0, 0, 0, time.UTC)}
	c := &Config{Version: 1, Forge: Forge{Repositories: []string{repo}}, Poll: w.between(time.Minute, 3*time.Minute)}
	for i := range 1 + w.rng.IntN(3) {
		c.Hosts = append(c.Hosts, HostConfig{
			Name: fmt.Sprintf("h%d", i), Labels: []string{"self-hosted", "gpu", fmt.Sprintf("kind%d", i%2)},
			Start: "start", Stop: "stop", Status: "status", Timeout: time.Minute, Ask: 20 * time.Second, Retry: 10 * time.Minute,
			Boot: w.between(2*time.Minute, 6*time.Minute), Halt: w.between(time.Minute, 3*time.Minute), Idle: w.between(5*time.Minute, 15*time.Minute),
			Jobs: 1 + w.rng.IntN(2), Price: 0.5 + w.rng.Float64(),
		})
	}
	if w.chance(0.7) { // otherwise a running job may be on any host, and keeps all of them on
		for i := range c.Hosts {
			c.Hosts[i].Runners = []string{c.Hosts[i].Name}
		}
	}
	c.Budget = Budget{Least: 5 * time.Minute, Margin: 3 * time.Minute, Hours: 1 + 6*w.rng.Float64()}
	if w.chance(0.5) {
		c.Budget.Dollars = 1 + 4*w.rng.Float64()
	}
	if w.chance(0.2) {
		c.Budget.Grace = 10 * time.Minute
	}
	c.setDefaults()
	if err := c.check(); err != nil {
		panic(err)
	}
	w.config = c
	for i := range c.Hosts {
		w.machines[c.Hosts[i].Name] = &machine{hc: &c.Hosts[i], power: Off, before: Off, bill: map[string]time.Duration{}}
	}
	return w
}

// live plays a schedule to its end: four hours of trouble, then calm until everything
// that can be done is.
func (w *world) live() {
	begin := w.now
	w.calm = begin.Add(4 * time.Hour)
	for range 1 + w.rng.IntN(10) {
		labels := []string{"self-hosted", "gpu"}
		if w.chance(0.5) {
			labels = append(labels, fmt.Sprintf("kind%d", w.rng.IntN(min(2, len(w.config.Hosts)))))
		}
		length := w.between(10*time.Second, 40*time.Minute)
		w.in(w.between(0, 4*time.Hour), func() { w.queueJob(labels, length) })
	}
	for at := w.between(0, 30*time.Minute); at < 4*time.Hour; at += w.between(time.Second, 40*time.Minute) {
		mode := w.rng.IntN(4)
		w.in(at, func() {
			switch mode {
			case 0:
				w.kill()
			case 1:
				w.dieNext = "before"
			case 2:
				w.dieNext = "ended" // just after a command
			default:
				w.dieNext = "after"
			}
		})
	}
	w.boot()
	w.run(w.calm)
	for end := begin.Add(60 * time.Hour); w.now.Before(end) && !w.quiet(); {
		w.run(w.now.Add(30 * time.Minute))
	}
	for _, j := range w.jobs {
		if j.Stage != Done {
			w.broke("job %d %v is %s for ever: its host was not started", j.ID, j.Labels, j.Stage)
		}
	}
	for name, m := range w.machines {
		if m.power != Off {
			w.broke("%s is %s for ever: it was not put to sleep", name, m.power)
		}
		for date := range m.bill {
			w.checkBill(date)
		}
	}
}

func (w *world) quiet() bool {
	for _, j := range w.jobs {
		if j.Stage != Done {
			return false
		}
	}
	for _, m := range w.machines {
		if m.power != Off || m.flights > 0 {
			return false
		}
	}
	return true
}

// checkBill holds the true bill against the budget, with the grace of each host.
func (w *world) checkBill(date string) {
	b := w.config.Budget
	for _, h := range w.config.Hosts {
		if b.Hours > 0 {
			b.Hours += b.Grace.Hours()
		}
		if b.Dollars > 0 {
			b.Dollars += b.Grace.Hours() * h.Price
		}
	}
	if owed := w.owed(date); !owed.within(b) {
		w.broke("%s costs %v and $%.3f, the budget is %+v", date, owed.time, owed.dollars, w.config.Budget)
	}
}

// boot is a new life of pawl wake, from what is on disk.
func (w *world) boot() {
	w.life++
	w.up = true
	w.wake = NewState()
	if w.disk != nil {
		s, err := DecodeState(w.disk)
		if err != nil {
			w.broke("what was kept cannot be read: %v", err)
			return
		}
		w.wake = s
	}
	w.wake.Recover(w.config, w.now)
	life := w.life
	w.in(0, func() { w.tick(life) })
	w.in(w.between(0, 2*time.Second), func() { w.poll(life) })
}

func (w *world) tick(life int) {
	if life != w.life || !w.up {
		return
	}
	w.step(Tick{})
	w.in(20*time.Second, func() { w.tick(life) })
}

func (w *world) kill() {
	if !w.up {
		return
	}
	w.keep()
	w.die()
}

// keep is what is on disk at this moment: what the last whole step left.
func (w *world) keep() {
	data, err := json.Marshal(w.wake)
	if err != nil {
		w.broke("%v", err)
	}
	w.disk = data
}

func (w *world) die() {
	w.kills++
	w.up = false
	away := w.between(time.Second, time.Minute)
	if w.chance(0.5) {
		away = w.between(0, 3*time.Second)
	}
	w.in(away, w.boot)
}

// step is one turn of the loop: step, write, act; and death in between.
func (w *world) step(e Event) {
	die := w.dieNext
	if _, ended := e.(Ended); die != "ended" || ended {
		w.dieNext = ""
	} else {
		die = ""
	}
	if die == "before" {
		w.keep() // what this step brings is lost
		w.wake.Step(w.config, e, w.now)
		w.die()
		return
	}
	again := copyOf(w.wake)
	actions, _ := w.wake.Step(w.config, e, w.now)
	if same, _ := again.Step(w.config, e, w.now); !slices.Equal(actions, same) {
		w.broke("the same step led to %+v and to %+v", actions, same)
	}
	if die != "" {
		w.kill() // it is kept, and not done
		return
	}
	w.inspect()
	for _, a := range actions {
		m := w.machines[a.Host]
		switch a.Kind {
		case Ask:
			w.ask(m, a)
		case Start:
			w.start(m)
		case Stop:
			w.stop(m)
		}
	}
}

// copyOf copies a state. A workflow replays its steps, which must then lead to the same actions.
func copyOf(s *State) *State {
	c := *s
	c.Jobs, c.Hosts, c.Polled, c.Day.On = map[string]*Job{}, map[string]*Host{}, maps.Clone(s.Polled), maps.Clone(s.Day.On)
	for key, j := range s.Jobs {
		job := *j
		c.Jobs[key] = &job
	}
	for name, h := range s.Hosts {
		host := *h
		if h.Flight != nil {
			flight := *h.Flight
			host.Flight = &flight
		}
		c.Hosts[name] = &host
	}
	return &c
}

// inspect looks at what must hold at every moment.
func (w *world) inspect() {
	date := w.now.Format(time.DateOnly)
	if told, owed := w.wake.spent(w.config, w.now), w.owed(date); told.time+time.Second < owed.time {
		w.broke("%v are accounted for, and %v were on", told.time, owed.time)
	}
	for name, m := range w.machines {
		if slack := m.hc.Idle + 25*time.Minute; !m.idle.IsZero() && len(m.hc.Runners) > 0 && w.now.Sub(m.idle) > slack && w.now.Before(w.calm) {
			w.broke("%s is on without a job for %v", name, w.now.Sub(m.idle))
			m.idle = time.Time{} // said
		}
	}
}

func (w *world) ask(m *machine, a Action) {
	life, busy := w.life, m.flights > 0
	w.in(w.between(0, 3*time.Second), func() {
		answer := StatusResult{Host: a.Host, Turn: a.Turn, Power: w.status(m), Busy: busy}
		if w.wrong(0.05) {
			answer.Power, answer.Why = Unknown, "timeout"
		}
		w.in(w.between(0, 2*time.Second), func() {
			if life == w.life && w.up {
				w.step(answer)
			}
		})
	})
}

// command runs one that takes a while and may outlive the pawl wake that began it.
func (w *world) command(m *machine, kind Kind, takes, effect time.Duration, why string, do func()) {
	if m.flights > 0 {
		w.broke("%s: a %s begins while a %s runs", m.hc.Name, kind, m.flight)
	}
	m.flights++
	m.flight = kind
	life, survives := w.life, w.chance(0.5)
	if do != nil {
		w.in(effect, func() {
			if life == w.life && w.up || survives {
				do()
			}
		})
	}
	w.in(takes, func() {
		m.flights--
		if life == w.life && w.up {
			w.step(Ended{Host: m.hc.Name, Kind: kind, Why: why})
		}
	})
}

func (w *world) start(m *machine) {
	w.starts++
	if m.power != Off {
		w.broke("%s is started while it is %s", m.hc.Name, m.power)
	}
	takes := w.between(time.Second, 10*time.Second)
	if w.wrong(0.2) {
		takes = w.between(10*time.Second, m.hc.Timeout)
	}
	effect := w.between(0, takes)
	up := func() {
		w.set(m, Starting)
		boot := m.hc.Boot - m.hc.Timeout - m.hc.Ask*2
		if !w.wrong(0.05) {
			w.later(m, w.between(boot/4, boot), On)
		}
	}
	mishap := m.mishaps < 3 && w.wrong(0.25)
	switch {
	case !mishap:
		m.mishaps = 0
		w.command(m, Start, takes, effect, "", up)
	case w.chance(0.3):
		m.mishaps++
		w.command(m, Start, takes, effect, "says it failed", up)
	default:
		m.mishaps++
		w.command(m, Start, takes, effect, "failed", nil)
	}
}

func (w *world) stop(m *machine) {
	for _, j := range w.jobs {
		if j.Stage == Running && j.on == m && w.knew(j) && w.wake.Day.Ended.IsZero() {
			w.broke("%s is stopped under job %d, which runs since %v", m.hc.Name, j.ID, j.began)
		}
	}
	takes := w.between(time.Second, 5*time.Second)
	if !m.stopFail && w.wrong(0.1) {
		m.stopFail = true
		w.command(m, Stop, takes, 0, "failed", nil)
		return
	}
	m.stopFail = false
	w.command(m, Stop, takes, takes/2, "", func() {
		if m.power == Off {
			return
		}
		w.set(m, Stopping)
		w.later(m, w.between(m.hc.Halt/4, m.hc.Halt-10*time.Second), Off)
	})
}

// knew tells whether two listings have shown that a job runs.
func (w *world) knew(j *work) bool {
	return len(w.polls) > 1 && j.began.Before(w.polls[len(w.polls)-2])
}
