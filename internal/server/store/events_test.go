package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/demo"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/eventstore"
)

var season = demo.Size{Days: 60, Configs: 2}

func laneOf(r *client.Report) client.Lane {
	if r.Pull != 0 {
		return client.Branch
	}
	return client.Main
}

func look(t testing.TB, s *store.Store, project int64) alert.ScanStats {
	t.Helper()
	l, err := alert.Scan(t.Context(), s, project)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// toldGroup is a group without the ids that it and its events got by chance.
type toldGroup struct {
	Group  client.Group
	Events []string
}

// reportedCommits is what is known of a project's main lane, as text.
func reportedCommits(t testing.TB, s *store.Store, project int64) string {
	t.Helper()
	groups, err := s.Groups(t.Context(), project, eventstore.GroupQuery{})
	if err != nil {
		t.Fatal(err)
	}
	beds, err := s.Testbeds(t.Context(), project)
	if err != nil {
		t.Fatal(err)
	}
	name := map[int64]string{0: ""}
	for _, b := range beds {
		name[b.ID] = b.Key
	}
	var list []toldGroup
	for _, g := range groups {
		g, err = s.Group(t.Context(), project, g.ID)
		if err != nil {
			t.Fatal(err)
		}
		x := toldGroup{Group: g}
		for _, e := range g.Events {
			x.Events = append(x.Events, fmt.Sprintf("%s %s %s %v %.7s..%.7s %s %x %x %s", e.Name, name[e.Testbed], e.Kind, e.Worse, e.From, e.To,
				e.At.Format(time.RFC3339), math.Float64bits(e.Before), math.Float64bits(e.After), e.State))
		}
		slices.Sort(x.Events)
		x.Group.ID, x.Group.Testbed, x.Group.Events = 0, 0, nil
		x.Events = append(x.Events, "machine "+name[g.Testbed])
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b toldGroup) int { return slices.Compare(a.Events, b.Events) })
	b, err := json.MarshalIndent(list, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A season of a project in portions, with several lookers at once, is what one look at
// all of it gives, and what was planted is in it.
func TestLooksInPortions(t *testing.T) {
	s, url := opened(t)
	once, often := projectNamed(t, s, "once"), projectNamed(t, s, "often")
	reports := slices.Collect(demo.Year(1, season))
	ingestAll(t, s, once, reports)
	look(t, s, once)

	r := rand.New(rand.NewPCG(1, 1))
	for len(reports) > 0 {
		n := min(len(reports), 1+r.IntN(120))
		part := slices.Clone(reports[:n])
		reports = reports[n:]
		r.Shuffle(len(part), func(i, j int) { part[i], part[j] = part[j], part[i] })
		ingestAll(t, s, often, part)
		lookAtOnce(t, s, often)
	}
	want, got := reportedCommits(t, s, once), reportedCommits(t, s, often)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-once +often):\n%s", diff)
	}
	planted(t, s, once)
	if n := ask(t, url, `select count(*) from pawl.dirty`); n != 0 {
		t.Errorf("%d reports were not looked at", n)
	}
	if n := ask(t, url, `select count(*) from pawl.trend_state join pawl.series on series.id = series_id where lane <> 0`); n != 0 {
		t.Errorf("somebody looked at %d series of other lanes", n)
	}
}

// ingestAll sends reports, several at a time.
func ingestAll(t *testing.T, s *store.Store, project int64, reports []*client.Report) {
	t.Helper()
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := w; i < len(reports); i += 8 {
				if _, err := s.Ingest(t.Context(), project, incoming(reports[i], laneOf(reports[i]))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
}

// lookAtOnce lets three look at a project until nothing is left.
func lookAtOnce(t *testing.T, s *store.Store, project int64) {
	t.Helper()
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for end := time.Now().Add(5 * await.Limit); ; {
				_, err := alert.Scan(t.Context(), s, project)
				if err == nil {
					return
				}
				if !errors.Is(err, alert.ErrBusy) || time.Now().After(end) {
					t.Error(err)
					return
				}
				time.Sleep(time.Millisecond)
			}
		})
	}
	wg.Wait()
}

// planted holds what was found against what there is.
func planted(t *testing.T, s *store.Store, project int64) {
	t.Helper()
	groups, err := s.Groups(t.Context(), project, eventstore.GroupQuery{})
	if err != nil {
		t.Fatal(err)
	}
	missing := 0
	for _, p := range demo.Truth(1, season) {
		if p.Kind != demo.Step && p.Kind != demo.Machine || p.At.After(time.Date(2025, 12, 27, 0, 0, 0, 0, time.UTC)) {
			continue // no change, or too late in the season to have settled
		}
		i := slices.IndexFunc(groups, func(g client.Group) bool {
			return g.At.Sub(p.At).Abs() < 36*time.Hour && (g.Worst > 0) == (p.Change > 0) && (p.Kind == demo.Machine) == g.Machine
		})
		if i < 0 {
			missing++
			t.Logf("not found: %+v", p)
		}
	}
	if missing > 1 {
		t.Errorf("%d planted changes were not found", missing)
	}
}

// What strangers send changes nothing of what is known of the default branch.
func TestForksChangeNothing(t *testing.T) {
	s, url := opened(t)
	p := projectNamed(t, s, "kernels")
	for n := range 60 {
		ingest(t, s, p, stepped(n, 40), client.Main)
	}
	look(t, s, p)
	want := reportedCommits(t, s, p)
	if len(want) < 200 {
		t.Fatalf("nothing is known: %s", want)
	}
	var wg sync.WaitGroup
	const writers, each = 8, 125
	for w := range writers {
		wg.Go(func() {
			for i := range each {
				n := 1000 + w*each + i
				r := stepped(n%60, 10) // a step where there is none, in the same cases of the same commits
				r.Run = fmt.Sprintf("01FORK%020d", n)
				lane := client.Fork
				if n%5 == 0 {
					lane = client.Branch
				}
				if _, err := s.Ingest(t.Context(), p, incoming(r, lane)); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	l := look(t, s, p)
	if l.Reports != writers*each || l.Series != 0 || l.Events != 0 {
		t.Errorf("%+v", l)
	}
	if diff := cmp.Diff(want, reportedCommits(t, s, p)); diff != "" {
		t.Errorf("(-before +after):\n%s", diff)
	}
	if n := ask(t, url, `select count(*) from pawl.report where lane <> 0`); n != writers*each {
		t.Errorf("%d reports are kept", n)
	}
}

// stepped is a report of three cases that get slower at a commit.
func stepped(n, at int) *client.Report {
	r := reportNo(n, 3)
	noise := rand.New(rand.NewPCG(uint64(n), 9))
	for i := range r.Points {
		v := 1000 * math.Exp(0.005*noise.NormFloat64())
		if n >= at {
			v *= 1.1
		}
		r.Points[i].Value = v
	}
	return r
}

func TestWhatPeopleSaidStaysInTheStore(t *testing.T) {
	s, _ := opened(t)
	p := projectNamed(t, s, "kernels")
	for n := range 50 {
		ingest(t, s, p, stepped(n, 40), client.Main)
	}
	if l := look(t, s, p); l.Events != 3 || l.Groups != 1 || l.Oldest.IsZero() {
		t.Fatalf("%+v", l)
	}
	events, err := s.Events(t.Context(), p, eventstore.Query{State: client.EventNew, Worse: true})
	if err != nil || len(events) != 3 {
		t.Fatalf("%v, %+v", err, events)
	}
	was := events[0]
	if was.From != sha(39) || was.To != sha(40) || !slices.Equal(was.Owners, []string{"@octo/kernels"}) || math.Abs(was.Change-0.1) > 0.02 {
		t.Errorf("%+v", was)
	}
	if err := s.ChangeEvent(t.Context(), p, was, client.EventAcknowledged, "a known trade"); err != nil {
		t.Fatal(err)
	}
	for n := 50; n < 70; n++ {
		ingest(t, s, p, stepped(n, 40), client.Main)
	}
	look(t, s, p)
	is, err := s.Event(t.Context(), p, was.ID)
	if err != nil || is.State != client.EventAcknowledged || is.Note != "a known trade" || is.Group != was.Group || is.After == was.After {
		t.Errorf("%v: was %+v, is %+v", err, was, is)
	}
	if open, err := s.Events(t.Context(), p, eventstore.Query{State: client.EventNew}); err != nil || len(open) != 2 {
		t.Errorf("%v: %d are new", err, len(open))
	}
	if g, err := s.Group(t.Context(), p, was.Group); err != nil || g.Series != 3 || g.Worse != 3 || len(g.Events) != 3 {
		t.Errorf("%v: %+v", err, g)
	}
}

// What is taken at once has bounds, whatever was imported, and nothing is left behind. Reports whose series are read
// anyway are taken, too.
func TestTakeReports_Bounds(t *testing.T) {
	s, url := opened(t)
	p := projectNamed(t, s, "kernels")
	for n := range 12 { // 4 of 3 series, 4 of 3 others, 4 of a fork
		r, lane := reportNo(n, 3), client.Main
		r.Suite = []string{"a", "b"}[n%2]
		if n >= 8 {
			lane = client.Fork
		}
		ingest(t, s, p, r, lane)
	}
	for _, c := range []struct {
		reports, series      int // at most
		taken, seriesOfTaken int
		more                 bool
	}{
		{reports: 2, series: 100, taken: 2, seriesOfTaken: 6, more: true},
		{reports: 100, series: 5, taken: 7, seriesOfTaken: 3, more: true}, // one suite, and all of the fork
		{reports: 2, series: 1, taken: 2, seriesOfTaken: 3, more: true},
		{reports: 100, series: 1, taken: 1, seriesOfTaken: 3},
		{reports: 100, series: 100},
	} {
		err := s.WithScanLock(t.Context(), p, func(d alert.ScanTx) error {
			got, err := d.TakeReports(t.Context(), c.reports, c.series)
			if got.Reports != c.taken || got.More != c.more || len(got.Series) != c.seriesOfTaken {
				t.Errorf("%+v: %+v", c, got)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := ask(t, url, `select count(*) from pawl.dirty`); n != 0 {
		t.Errorf("%d are left", n)
	}
}

// A series whose points cannot be parsed does not stop the analysis of the others.
func TestDamageStaysWhereItIs(t *testing.T) {
	s, url := opened(t)
	p := projectNamed(t, s, "kernels")
	for n := range 50 {
		ingest(t, s, p, stepped(n, 40), client.Main)
	}
	var broken int64
	conn := owner(t, url)
	if err := conn.QueryRow(t.Context(), `select id from pawl.series order by id offset 1 limit 1`).Scan(&broken); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `insert into pawl.tile select project_id, id, '2020-01-01', 1, '2020-01-02', 2, 1, 99, 'nonsense' from pawl.series where id = $1`, broken); err != nil {
		t.Fatal(err)
	}
	l := look(t, s, p)
	if l.Damaged != 1 || l.Events != 2 || l.Series != 3 {
		t.Errorf("%+v", l)
	}
	if n := ask(t, url, `select count(*) from pawl.trend_state where series_id = $1`, broken); n != 0 {
		t.Error("something is remembered of what cannot be parsed")
	}
}

func TestToldOnceInTheStore(t *testing.T) {
	now := noon
	s, _ := openedAt(t, func() time.Time { return now })
	p := projectNamed(t, s, "kernels")
	var sent []int64
	var at time.Time
	send := func(_ context.Context, _ pgx.Tx, hook int64, told time.Time) error {
		sent, at = append(sent, hook), told
		return nil
	}
	tell := func() int {
		t.Helper()
		sent = nil
		if err := s.Notify(t.Context(), p, 15*time.Minute, send); err != nil {
			t.Fatal(err)
		}
		return len(sent)
	}
	recent := func(n int) *client.Report { // reportNo's commits are of a month ago
		r := stepped(n, 40)
		when := noon.Add(time.Duration(n-70) * time.Hour)
		r.Commit.At, r.Measured = &when, when
		return r
	}
	for n := range 50 {
		ingest(t, s, p, recent(n), client.Main)
	}
	look(t, s, p)
	if tell() != 0 {
		t.Error("there is nobody to be told")
	}
	hook, err := s.AddHook(t.Context(), p, alert.Hook{Kind: "json", URL: "https://hooks.example.org/x", Secret: "0123456789abcdef0123456789abcdef"})
	if err != nil {
		t.Fatal(err)
	}
	if _, tellable, err := s.PendingProjects(t.Context()); err != nil || !slices.Equal(tellable, []int64{p}) {
		t.Errorf("%v: %v wait", err, tellable)
	}
	if err := s.Notify(t.Context(), p, 0, func(context.Context, pgx.Tx, int64, time.Time) error { return errors.New("no queue") }); err == nil {
		t.Error("a queue that fails is an error")
	}
	if tell() != 1 || sent[0] != hook.ID {
		t.Fatalf("sent %v: what failed counts as told", sent)
	}
	news, err := s.News(t.Context(), p, at)
	if err != nil || len(news.Groups) != 1 || len(news.Groups[0].Events) != 3 || news.Project.Slug != "kernels" || len(news.Testbeds) != 1 {
		t.Errorf("%v: %+v", err, news)
	}
	now = now.Add(time.Hour)
	for n := 50; n < 60; n++ {
		ingest(t, s, p, recent(n), client.Main)
	}
	look(t, s, p)
	if tell() != 0 {
		t.Error("told twice")
	}
	if h, err := s.HookByID(t.Context(), p, hook.ID); err != nil || h.Secret == "" || h.URL != "https://hooks.example.org/x" {
		t.Errorf("%v: %+v", err, h)
	}
	if _, err := s.HookByID(t.Context(), p, hook.ID+1); !errors.Is(err, alert.ErrRefused) {
		t.Errorf("no hook: %v", err)
	}
}
