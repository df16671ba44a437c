package server

import (
	"fmt"
	"net/http"
	"slices"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/eventstore"
	"github.com/goatnote-inc/pawl/internal/server/trend"
)

// check compares what is kept with what was sent and acknowledged.
func (y *try) check() outcome {
	t := y.t
	t.Helper()
	y.quiet()
	var o outcome
	acknowledged := y.notes.acknowledged(t)
	for run := range y.want {
		if _, ok := acknowledged[run]; !ok {
			y.problem("run %s was never acknowledged", run)
		}
	}
	y.w.store(t, func(s *store.Store) {
		ids := y.checkRuns(&o, acknowledged)
		points := 0
		for run, want := range y.want {
			if ids[run] == 0 {
				continue // counted
			}
			points += want.points
			got, err := s.RunSeries(t.Context(), y.id, ids[run])
			if err != nil {
				t.Fatal(err)
			}
			y.checkPoints(&o, run, want, got)
			for _, digest := range want.files {
				y.checkFile(&o, run, digest)
			}
		}
		if n := y.w.count(t, `select (select count(*) from pawl.point where project_id = $1) + (select coalesce(sum(n), 0) from pawl.tile where project_id = $1)`, y.id); n > points {
			o.doubled += n - points
			y.problem("%d points are kept of %d", n, points)
		}
		y.checkEvents(s)
	})
	o.fsck = y.w.fsck(t)
	o.bad = y.bad
	return o
}

// checkRuns finds every run once, with the number of its receipt.
func (y *try) checkRuns(o *outcome, acknowledged map[string]client.Receipt) map[string]int64 {
	ids, count := map[string]int64{}, map[string]int{}
	y.w.sql(y.t, func(c *pgx.Conn) error {
		rows, err := c.Query(y.t.Context(), `select r.run, r.id, (select count(*) from pawl.receipt c where c.project_id = r.project_id and c.report_id = r.id)
			from pawl.report r where r.project_id = $1`, y.id)
		if err != nil {
			return err
		}
		var run string
		var id, receipts int64
		_, err = pgx.ForEachRow(rows, []any{&run, &id, &receipts}, func() error {
			ids[run], count[run] = id, count[run]+1
			if receipts != 1 {
				y.problem("run %s has %d receipts", run, receipts)
			}
			return nil
		})
		return err
	})
	for run, receipt := range acknowledged {
		if _, wanted := y.want[run]; !wanted {
			continue // let go of since
		}
		switch {
		case count[run] == 0:
			o.lost++
			y.problem("run %s was acknowledged as %d and is not there", run, receipt.Report)
		case ids[run] != receipt.Report:
			y.problem("run %s was acknowledged as %d and is %d", run, receipt.Report, ids[run])
		}
	}
	for run, n := range count {
		if _, wanted := y.want[run]; !wanted || n > 1 {
			o.doubled++
			y.problem("run %s is there %d times (wanted: %v)", run, n, wanted)
		}
	}
	return ids
}

func (y *try) checkPoints(o *outcome, run string, want kept, got []client.RunPoint) {
	if len(got) != want.points {
		o.lost += max(0, want.points-len(got))
		y.problem("run %s has %d points of %d", run, len(got), want.points)
	}
	for _, p := range got {
		if !want.at.IsZero() && !p.Point.At.Equal(want.at) {
			y.problem("run %s stands at %v, not %v", run, p.Point.At, want.at)
		}
		if v, ok := want.values[p.Series.Config]; want.values != nil && (!ok || v != p.Point.Value) {
			y.problem("run %s has %v for %s, not %v", run, p.Point.Value, p.Series.Config, v)
		}
	}
}

// checkFile reads a file back as people do. fsck gives files an hour to appear.
func (y *try) checkFile(o *outcome, run, digest string) {
	code, text, err := y.do("GET", "/v1/projects/"+y.slug+"/blobs/"+digest, y.key, nil)
	if err != nil {
		y.t.Fatal(err)
	}
	if code != http.StatusOK || digestOf([]byte(text)) != digest {
		o.lost++
		y.problem("the file %s of run %s: %d, %d bytes", digest, run, code, len(text))
	}
}

// checkEvents computes the events from what was sent, and not from what is kept.
func (y *try) checkEvents(s *store.Store) {
	type event struct {
		Config, Kind, From, To string
		Worse                  bool
	}
	var want, got []event
	for c := range cases {
		var points []float64
		for i := range y.before + pushed {
			points = append(points, float64(float32(y.story.value(i, c))))
		}
		found, _ := trend.Find(points, trend.Settings{}, trend.State{})
		for _, e := range found.Events {
			want = append(want, event{fmt.Sprintf("N%d", c), string(e.Kind), y.story.sha(e.From), y.story.sha(e.To), e.Worse})
		}
	}
	// Nobody is told of what nobody looked at.
	if n := y.w.count(y.t, `select count(*) from pawl.series s left join pawl.trend_state t on t.project_id = s.project_id and t.series_id = s.id
		where s.project_id = $1 and s.lane = 0 and coalesce(t.points, 0) <> (select count(*) from pawl.point p where p.project_id = $1 and p.series_id = s.id) +
			(select coalesce(sum(n), 0) from pawl.tile i where i.project_id = $1 and i.series_id = s.id)`, y.id); n > 0 {
		y.problem("%d series have points that nobody looked at", n)
	}
	if y.errand.steps && len(want) == 0 {
		y.problem("the story has no events: nothing is tried")
	}
	list, err := s.Events(y.t.Context(), y.id, eventstore.Query{Limit: 1000})
	if err != nil {
		y.t.Fatal(err)
	}
	for _, e := range list {
		one, err := s.SeriesByID(y.t.Context(), y.id, e.Series)
		if err != nil {
			y.t.Fatal(err)
		}
		got = append(got, event{one.Config, e.Kind, e.From, e.To, e.Worse})
	}
	order := func(a, b event) int { return slices.Compare([]string{a.Config, a.To}, []string{b.Config, b.To}) }
	slices.SortFunc(want, order)
	slices.SortFunc(got, order)
	if d := cmp.Diff(want, got); d != "" {
		y.problem("events are not those of the points (-want +got):\n%s", d)
	}
}
