package wake

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"time"
)

// world is the truth of a simulated schedule: machines, jobs, a forge that loses,
// doubles and delays what it says, and a pawl wake that is killed at any moment.
type world struct {
	rng    *rand.Rand
	now    time.Time
	queue  agenda
	serial int

	config   *Config
	machines map[string]*machine
	jobs     []*work
	calm     time.Time // from here on nothing goes wrong any more

	wake      *State
	disk      []byte
	life      int
	up        bool
	dieNext   string // "", "before" or "after" the next write, or "ended": after that of a command's end
	polls     []time.Time
	failed    int // polls in a row
	broken    []string
	starts    int
	kills     int
	lostJobs  int
	delivered int
}

// machine is a host as its maker knows it.
type machine struct {
	hc       *HostConfig
	power    Power
	before   Power // what a status that lags still says
	changed  time.Time
	epoch    int // a change that was planned before another is void
	flight   Kind
	flights  int // commands of any life that run
	mishaps  int // starts in a row that failed
	stopFail bool
	billed   time.Time // since when it costs; zero when off
	bill     map[string]time.Duration
	idle     time.Time // since when it is on without a job
	jobs     int
}

// work is a job as the forge knows it.
type work struct {
	Job
	length time.Duration
	on     *machine
	began  time.Time
	missed bool // the last listing lacked it
}

type entry struct {
	at     time.Time
	serial int
	do     func()
}

type agenda []entry

func (a agenda) Len() int { return len(a) }
func (a agenda) Less(i, j int) bool {
	return a[i].at.Before(a[j].at) || a[i].at.Equal(a[j].at) && a[i].serial < a[j].serial
}
func (a agenda) Swap(i, j int) { a[i], a[j] = a[j], a[i] }
func (a *agenda) Push(x any)   { *a = append(*a, x.(entry)) }
func (a *agenda) Pop() any {
	last := len(*a) - 1
	e := (*a)[last]
	*a = (*a)[:last]
	return e
}

func (w *world) in(d time.Duration, do func()) {
	w.serial++
	heap.Push(&w.queue, entry{w.now.Add(d), w.serial, do})
}

// run lets the time pass.
func (w *world) run(until time.Time) {
	for len(w.queue) > 0 && !w.queue[0].at.After(until) {
		e := heap.Pop(&w.queue).(entry)
		w.now = e.at
		e.do()
	}
	w.now = until
}

func (w *world) broke(format string, args ...any) {
	w.broken = append(w.broken, w.now.Format("02 15:04:05 ")+fmt.Sprintf(format, args...))
}

func (w *world) chance(p float64) bool { return w.rng.Float64() < p }

// wrong tells whether something goes wrong now.
func (w *world) wrong(p float64) bool { return w.now.Before(w.calm) && w.chance(p) }

func (w *world) between(low, high time.Duration) time.Duration {
	return low + time.Duration(w.rng.Int64N(int64(high-low)+1))
}

// set changes a machine's power, with its bill.
func (w *world) set(m *machine, p Power) {
	m.before, m.changed = m.power, w.now
	m.power = p
	m.epoch++
	if p == Off {
		w.settle(m)
		m.billed = time.Time{}
	} else if m.billed.IsZero() {
		m.billed = w.now
	}
	m.idle = time.Time{}
	if p == On {
		m.idle = w.now
		w.in(w.between(0, 5*time.Second), w.dispatch)
	}
	for _, j := range w.jobs {
		if j.on == m && j.Stage == Running && (p == Off || p == Stopping) {
			w.lostJobs++
			w.finish(j)
		}
	}
}

// settle writes a machine's bill up to now, by days.
func (w *world) settle(m *machine) {
	for !m.billed.IsZero() && m.billed.Before(w.now) {
		end := w.now
		if next := midnight(m.billed); next.Before(end) {
			end = next
		}
		m.bill[m.billed.Format(time.DateOnly)] += end.Sub(m.billed)
		m.billed = end
	}
}

// owed is what a day costs in truth.
func (w *world) owed(date string) amount {
	var sum amount
	for i := range w.config.Hosts {
		m := w.machines[w.config.Hosts[i].Name]
		w.settle(m)
		sum = sum.plus(amountOf(m.bill[date], m.hc))
	}
	return sum
}

// later changes the power when nothing else has changed it until then.
func (w *world) later(m *machine, d time.Duration, p Power) {
	epoch := m.epoch
	w.in(d, func() {
		if m.epoch == epoch {
			w.set(m, p)
		}
	})
}

// status is what the maker's API says, which may lag.
func (w *world) status(m *machine) Power {
	if w.now.Before(w.calm) && w.now.Sub(m.changed) < m.hc.Ask/2 {
		return m.before
	}
	return m.power
}

// queueJob makes a job.
func (w *world) queueJob(labels []string, length time.Duration) {
	j := &work{Job: Job{Repo: repo, ID: int64(len(w.jobs) + 1), Labels: labels, Stage: Queued, Created: w.now}, length: length}
	w.jobs = append(w.jobs, j)
	w.tell(j)
	w.in(w.between(0, 5*time.Second), w.dispatch)
}

// dispatch gives waiting jobs to machines that are on, as a forge does.
func (w *world) dispatch() {
	for _, j := range w.jobs {
		if j.Stage != Queued {
			continue
		}
		for i := range w.config.Hosts {
			hc := &w.config.Hosts[i]
			m := w.machines[hc.Name]
			if m.power != On || m.jobs >= hc.Jobs || !j.fits(hc) {
				continue
			}
			j.Stage, j.on, j.began, j.Runner = Running, m, w.now, hc.Name
			m.jobs++
			m.idle = time.Time{}
			w.tell(j)
			w.in(j.length, func() {
				if j.Stage == Running {
					w.finish(j)
				}
			})
			break
		}
	}
}

func (w *world) finish(j *work) {
	j.Stage = Done
	j.on.jobs--
	if j.on.jobs == 0 && j.on.power == On {
		j.on.idle = w.now
	}
	w.tell(j)
	w.in(w.between(0, 3*time.Second), w.dispatch)
}

// tell sends a webhook: it may be lost, come twice, or late.
func (w *world) tell(j *work) {
	if w.wrong(0.3) {
		return
	}
	d := Delivery{j.Job}
	d.Job.Labels = append([]string(nil), j.Labels...)
	copies := 1
	if w.wrong(0.3) {
		copies = 2
	}
	for range copies {
		delay := w.between(0, 2*time.Second)
		if w.wrong(0.3) {
			delay = w.between(0, 10*time.Minute)
		}
		w.in(delay, func() {
			if w.up {
				w.delivered++
				w.step(d)
			}
		})
	}
}

// poll lists the jobs, some seconds old; a listing may fail or lack a job once.
func (w *world) poll(life int) {
	if life != w.life || !w.up {
		return
	}
	w.in(w.config.Poll, func() { w.poll(life) })
	if w.failed < 3 && w.wrong(0.2) {
		w.failed++
		return
	}
	w.failed = 0
	p := Poll{Repo: repo, Began: w.now}
	for _, j := range w.jobs {
		if !j.Stage.live() {
			continue
		}
		if !j.missed && w.wrong(0.05) {
			j.missed = true
			continue
		}
		j.missed = false
		p.Jobs = append(p.Jobs, j.Job)
	}
	w.in(w.between(0, 4*time.Second), func() {
		if life == w.life && w.up {
			w.step(p)
			w.polls = append(w.polls, p.Began)
		}
	})
}
