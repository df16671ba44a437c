package server

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// The victims.
const (
	self     = "self" // the process that passes the place
	postgres = "postgres"
)

const (
	writers = 4
	pushed  = 12 // reports that are on their way when it happens
	unknown = 1  // of them one whose commit's time nobody told,
	telling = 9  // and one that tells it, later and from the same writer
)

// try is one crash: a project of its own, senders, a death, and what is left.
type try struct {
	t      *testing.T
	w      *world
	point  string
	victim string
	errand errand
	story  story
	before int // reports that are there when it begins
	slug   string
	id     int64
	key    string
	notes  *notes
	sender *sender

	errandKey string // of the second project, where there is one
	errandID  int64

	mu   sync.Mutex
	want map[string]kept // what must be there in the end, by run
	bad  []string        // what is not as it must be
}

// kept is what must be kept of a run.
type kept struct {
	at     time.Time          // zero for wherever
	values map[string]float32 // by config; nil where only their number is known
	points int
	files  []string // digests
}

// monthsAgo is the first day of a month.
func monthsAgo(n int) time.Time {
	now := time.Now().UTC()
	return time.Date(now.Year(), now.Month()-time.Month(n), 1, 0, 0, 0, 0, time.UTC)
}

// newTry makes the project and its past.
func newTry(t *testing.T, w *world, point, victim string) *try {
	t.Helper()
	w.tries++
	e, _ := errandOf(point)
	y := &try{t: t, w: w, point: point, victim: victim, errand: e, before: 2, slug: fmt.Sprintf("k%d", w.tries), want: map[string]kept{}}
	// Every try has a month of its own, so that its partition is new.
	y.story = story{n: w.tries, base: monthsAgo(9*12 - w.tries%100), step: 1 << 30}
	if e.recent {
		y.story.base = time.Now().UTC().Truncate(time.Hour).AddDate(0, 0, -3)
	}
	if e.steps {
		y.before, y.story.step = 14, 14
	}
	if e.first {
		y.before = 0
	}
	w.store(t, func(s *store.Store) {
		p, err := s.CreateProject(t.Context(), store.Project{Project: client.Project{Slug: y.slug, Branch: "main"}})
		if err != nil {
			t.Fatal(err)
		}
		y.id = p.ID
		y.key, _, err = s.NewKey(t.Context(), p.ID, store.Key{Name: "k", Scopes: []store.Scope{store.ScopeReportMain, store.ScopeReport, store.ScopeAdmin}})
		if err != nil {
			t.Fatal(err)
		}
	})
	y.notes = &notes{path: filepath.Join(w.dir, y.slug+".notes")}
	y.sender = newSender(w.dir, w.url, y.slug, y.key, y.notes)
	for i := range y.before {
		y.push(t.Context(), y.story.report(i), nil)
	}
	if len(y.bad) > 0 {
		t.Fatal(y.bad)
	}
	return y
}

// expect says what must be kept of a report.
func (y *try) expect(r *client.Report, at time.Time) {
	k := kept{at: at, values: map[string]float32{}, points: len(r.Points)}
	for _, p := range r.Points {
		k.values[p.Config] = float32(p.Value)
	}
	for _, b := range r.Blobs {
		k.files = append(k.files, b.Digest)
	}
	y.mu.Lock()
	defer y.mu.Unlock()
	y.want[r.Run] = k
}

// push sends a report that must be kept.
func (y *try) push(ctx context.Context, r *client.Report, files []client.File) {
	at := r.Measured
	if r.Commit.At != nil {
		at = *r.Commit.At
	} else if r.Run == y.story.run(y.before+unknown) {
		at = y.story.at(y.before + unknown) // told by another report
	}
	y.expect(r, at)
	if err := y.sender.push(ctx, r, files); err != nil {
		y.problem("run %s cannot be sent: %v", r.Run, err)
	}
}

func (y *try) problem(format string, args ...any) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.bad = append(y.bad, fmt.Sprintf(format, args...))
}

// write sends what is under way, several at a time.
func (y *try) write(ctx context.Context) *sync.WaitGroup {
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			for i := w; i < pushed; i += writers {
				r := y.story.report(y.before + i)
				switch i {
				case unknown:
					r.Commit.At = nil
				case telling:
					at := y.story.at(y.before + unknown)
					r.History = []client.Commit{{SHA: y.story.sha(y.before + unknown), At: &at}}
				}
				// A case that no other report has: a look at another does not look at it.
				own := r.Points[0]
				own.Config = fmt.Sprintf("only%d", i)
				r.Points = append(r.Points, own)
				y.push(ctx, r, withFile(r))
			}
		})
	}
	return &all
}

// crash lets it happen: arm, work, die, start again, go on.
func (y *try) crash(nth int) {
	t, w := y.t, y.w
	t.Helper()
	if y.errand.prepare != nil {
		y.errand.prepare(y)
	}
	pid, err := w.pg.PID()
	if err != nil {
		t.Fatal(err)
	}
	w.arm(t, y.point, nth, y.victim)
	ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
	defer cancel()
	all := y.write(ctx)
	if y.errand.during != nil {
		all.Go(func() { y.errand.during(ctx, y) })
	}
	y.reach(all)
	switch {
	case y.victim == postgres:
		w.mendPostgres(t, pid)
	case !y.errand.elsewhere:
		w.killed(t)
		w.start(t)
	}
	all.Wait()
	if y.errand.again != nil {
		y.errand.again(y)
	}
}

// reach waits until the place is reached. When all is sent and the server has had time to
// look at it, it will not be.
func (y *try) reach(all *sync.WaitGroup) {
	y.t.Helper()
	sent := make(chan struct{})
	go func() { all.Wait(); close(sent) }()
	var late <-chan time.Time
	for !y.w.fired() {
		select {
		case <-sent:
			sent, late = nil, time.After(patience)
		case <-late:
			y.mu.Lock()
			defer y.mu.Unlock()
			y.t.Fatalf("%s was never reached by its %s\n%s", y.point, y.victim, strings.Join(y.bad, "\n"))
		case <-time.After(10 * time.Millisecond):
		}
	}
}

func (y *try) quiet() {
	y.t.Helper()
	y.w.quiet(y.t, y.id)
}

// quiet waits until nothing is left to do for a project. It asks for the sweep that
// comes every half minute.
func (w *world) quiet(t *testing.T, project int64) {
	t.Helper()
	var asked time.Time
	await.TrueWithin(t, patience, "all reports to stand at their commits and to be looked at", func() bool {
		time.Sleep(150 * time.Millisecond) // each question is a connection
		n := w.count(t, `select (select count(*) from pawl.dirty where project_id = $1) +
			(select count(*) from pawl.report r join pawl.revision v on v.project_id = r.project_id and v.sha = r.sha
			 where r.project_id = $1 and not r.placed and v.at is not null and v.lane <= r.lane)`, project)
		if n > 0 && time.Since(asked) > time.Second {
			asked = time.Now()
			w.ask(t, "sweep")
		}
		return n == 0
	})
}

// forget removes the project, so that the next try is alone.
func (y *try) forget() {
	y.t.Helper()
	y.w.store(y.t, func(s *store.Store) {
		if _, err := s.DeleteProject(y.t.Context(), y.id, nil); err != nil {
			y.t.Fatal(err)
		}
	})
	y.w.sql(y.t, func(c *pgx.Conn) error {
		// Jobs of a dead process count as running for hours: nobody waits for them here.
		_, err := c.Exec(y.t.Context(), `delete from river.river_job`)
		return err
	})
}

// outcome is what came of a try.
type outcome struct {
	lost, doubled int
	fsck          string
	bad           []string
}

func (o outcome) whole() bool { return o.lost+o.doubled+len(o.bad) == 0 && o.fsck == "" }

func (o outcome) String() string {
	return fmt.Sprintf("%d lost, %d doubled, fsck: %q\n%s", o.lost, o.doubled, o.fsck, strings.Join(o.bad, "\n"))
}
