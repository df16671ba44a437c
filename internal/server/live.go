package server

import (
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/measure"
)

// Limits on running runs. They are all kept in memory, and untrusted clients can add them. At the overall
// limit, the project with the most runs loses its oldest first.
const (
	liveRunsInAll     = 512
	liveRunsAProject  = 64
	liveForksAProject = 16
	liveEventsKept    = 1_000
	liveBytesKept     = 256 << 10 // of events, per run
	liveRows          = 300
	liveSides         = 8
	liveKept          = 10 * time.Minute // since the run's last message
)

// liveRuns holds the running runs that were reported to this server.
type liveRuns struct {
	now func() time.Time

	mu       sync.Mutex
	projects map[int64]map[string]*liveRun
	runs     int
	streams  map[int64]int
	open     int // open streams of all projects
}

// liveRun is one running run.
type liveRun struct {
	from    string // the sender that started the run; only it may add events
	picture client.LiveRun
	rows    map[string]int // indexes of cases in picture.Rows
	events  []liveEvent    // the newest events
	bytes   int
	changed chan struct{} // closed at the next event, or when the run is dropped
	gone    bool
}

type liveEvent struct {
	n    int64
	kind client.LiveKind
	text []byte // as JSON
}

func newLives(now func() time.Time) *liveRuns {
	return &liveRuns{now: now, projects: map[int64]map[string]*liveRun{}, streams: map[int64]int{}}
}

// addEvents adds events to a run. It returns false if another sender started a run with this name. It skips
// events that it already has: a sender that got no response sends them again.
func (l *liveRuns) addEvents(project int64, name, from string, fork bool, events []client.LiveEvent) (last int64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	run := l.projects[project][name]
	if run == nil {
		run = l.add(project, name, from, fork)
	}
	if run.from != from {
		return 0, false
	}
	run.picture.LastSeen = l.now().UTC()
	for i := range events {
		if events[i].N > run.picture.Last {
			run.take(&events[i])
		}
	}
	run.wake()
	return run.picture.Last, true
}

func (l *liveRuns) add(project int64, name, from string, fork bool) *liveRun {
	own, forks := l.projects[project], 0
	for _, run := range own {
		if run.picture.Fork {
			forks++
		}
	}
	switch {
	case fork && forks >= liveForksAProject:
		l.dropOldest(project, true)
	case len(own) >= liveRunsAProject:
		l.dropOldest(project, false)
	case l.runs >= liveRunsInAll:
		most := project
		for id, runs := range l.projects {
			if len(runs) > len(l.projects[most]) {
				most = id
			}
		}
		l.dropOldest(most, false)
	}
	if l.projects[project] == nil {
		l.projects[project] = map[string]*liveRun{}
	}
	now := l.now().UTC()
	run := &liveRun{
		from: from, rows: map[string]int{}, changed: make(chan struct{}),
		picture: client.LiveRun{Live: name, Fork: fork, Began: now, LastSeen: now},
	}
	l.projects[project][name] = run
	l.runs++
	return run
}

// forget drops runs that sent nothing for a while.
func (l *liveRuns) forget() {
	before := l.now().Add(-liveKept)
	for project, runs := range l.projects {
		for name, run := range runs {
			if run.picture.LastSeen.Before(before) {
				l.drop(project, name)
			}
		}
	}
}

func (l *liveRuns) dropOldest(project int64, onlyForks bool) {
	oldest := ""
	for name, run := range l.projects[project] {
		if onlyForks && !run.picture.Fork {
			continue
		}
		if oldest == "" || run.picture.LastSeen.Before(l.projects[project][oldest].picture.LastSeen) {
			oldest = name
		}
	}
	l.drop(project, oldest)
}

func (l *liveRuns) drop(project int64, name string) {
	run := l.projects[project][name]
	if run == nil {
		return
	}
	run.gone = true
	run.wake()
	l.runs--
	if delete(l.projects[project], name); len(l.projects[project]) == 0 {
		delete(l.projects, project)
	}
}

// list returns the runs of a project without their rows, most recent first.
func (l *liveRuns) list(project int64) []client.LiveRun {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	list := []client.LiveRun{}
	for _, run := range l.projects[project] {
		p := run.picture
		p.Rows = nil
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b client.LiveRun) int { return b.Began.Compare(a.Began) })
	return list
}

// get returns the current state of a run.
func (l *liveRuns) get(project int64, name string) (client.LiveRun, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	run := l.projects[project][name]
	if run == nil {
		return client.LiveRun{}, false
	}
	p := run.picture
	p.Rows = slices.Clone(p.Rows)
	for i := range p.Rows {
		p.Rows[i].Sides = maps.Clone(p.Rows[i].Sides)
	}
	return p, true
}

// after returns the events of a run after number n, and a channel that is closed when there are more. over
// means that no more will follow.
func (l *liveRuns) after(project int64, name string, n int64) (events []liveEvent, more <-chan struct{}, over, there bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.forget()
	run := l.projects[project][name]
	if run == nil {
		return nil, nil, true, false
	}
	at, _ := slices.BinarySearchFunc(run.events, n+1, func(e liveEvent, n int64) int { return int(e.n - n) })
	return slices.Clone(run.events[at:]), run.changed, run.picture.State != "", true
}

// enter reserves a slot for a stream, if one is free.
func (l *liveRuns) enter(project int64, perProject, inAll int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open >= inAll || l.streams[project] >= perProject {
		return false
	}
	l.open++
	l.streams[project]++
	return true
}

func (l *liveRuns) leave(project int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.streams[project]--; l.streams[project] == 0 {
		delete(l.streams, project)
	}
}

func (r *liveRun) wake() {
	close(r.changed)
	r.changed = make(chan struct{})
}

// take adds one event to the events and to the picture.
func (r *liveRun) take(e *client.LiveEvent) {
	text, err := json.Marshal(e)
	if err != nil { // cannot happen: the event was decoded from JSON
		return
	}
	r.events = append(r.events, liveEvent{e.N, e.Kind, text})
	r.bytes += len(text)
	for len(r.events) > liveEventsKept || r.bytes > liveBytesKept {
		r.bytes -= len(r.events[0].text)
		r.events = slices.Delete(r.events, 0, 1)
	}
	p := &r.picture
	p.Missed += e.N - p.Last - 1
	p.Last = e.N
	switch e.Kind {
	case client.LiveStep:
		p.Step = e.Text
	case client.LiveStarted: // also sent for rounds that confirm a gain
		p.Run, p.Suite, p.Commit, p.Branch, p.Device, p.Pawl = e.Run, e.Suite, e.Commit, e.Branch, e.Device, e.Pawl
		p.Sides, p.Cases, p.Planned, p.Now = e.Sides, e.Cases, e.Planned, e.Now
		p.Round, p.Of, p.Undecided, p.Step = 0, 0, 0, "measuring"
		if len(e.Planned) > 0 {
			p.Of = e.Planned[0]
		}
	case client.LiveSide:
		p.Now = e.Now
	case client.LiveCase:
		r.row(e)
	case client.LiveRound:
		p.Of = e.Of
		if e.Text == "" {
			p.Round = e.Round
		}
	case client.LiveLook:
		p.Undecided = e.Undecided
	case client.LiveVerdict:
		p.Verdict, p.Sentence = e.Verdict, e.Text
	case client.LiveEnded:
		p.State, p.Reason, p.Step = e.State, e.Text, ""
		if p.State == "" {
			p.State = string(measure.Complete)
		}
	}
}

// row records the value of one side of a case.
func (r *liveRun) row(e *client.LiveEvent) {
	p := &r.picture
	at, known := r.rows[e.Case]
	if !known {
		if len(p.Rows) >= liveRows {
			p.More = true
			return
		}
		at = len(p.Rows)
		r.rows[e.Case] = at
		p.Rows = append(p.Rows, client.LiveRow{Case: e.Case, Unit: e.Unit, Better: e.Better, Sides: map[string]client.LiveValue{}})
	}
	sides := p.Rows[at].Sides
	if _, known := sides[e.Side]; known || len(sides) < liveSides {
		sides[e.Side] = client.LiveValue{Value: e.Value, Round: e.Round, Failed: e.Text}
	}
}
