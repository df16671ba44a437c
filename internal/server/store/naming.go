package store

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// nameTestbeds finds the testbed for each timer used by the report's points.
func (s *Store) nameTestbeds(ctx context.Context, r *row) error {
	r.testbeds = map[measure.Timer]int64{}
	timers := make([]measure.Timer, 0, len(r.report.Points)+1)
	for _, p := range r.report.Points {
		timers = append(timers, p.Timer)
	}
	if len(timers) == 0 {
		timers = append(timers, "") // a run without results still has a testbed
	}
	for _, timer := range timers {
		if _, ok := r.testbeds[timer]; ok {
			continue
		}
		id, err := s.nameTestbed(ctx, r, timer)
		if err != nil {
			return err
		}
		r.testbeds[timer] = id
	}
	r.testbed = r.testbeds[timers[0]]
	return nil
}

func (s *Store) nameTestbed(ctx context.Context, r *row, timer measure.Timer) (int64, error) {
	key := testbedKey{r.project, ratchet.NewTestbed(r.report.Testbed, timer).Key}
	if id, ok := s.known.testbeds.One(key); ok {
		return id, nil
	}
	if err := s.checkNew(ctx, r); err != nil {
		return 0, err
	}
	if err := s.roomForTestbed(ctx, r, key.key); err != nil {
		return 0, err
	}
	facts, err := json.Marshal(r.report.Testbed)
	if err != nil {
		return 0, err
	}
	var id int64
	err = s.db.ReadBatch(ctx, r.project, func(b *pgx.Batch) {
		b.Queue(`insert into pawl.testbed (project_id, key, facts, timer, first) values ($1, $2, $3, $4, $5) on conflict do nothing`,
			r.project, key.key, facts, string(timer), r.received)
		b.Queue(`select id from pawl.testbed where project_id = $1 and key = $2`, r.project, key.key).
			QueryRow(func(row pgx.Row) error { return row.Scan(&id) })
	})
	if err != nil {
		return 0, fmt.Errorf("cannot look up or add testbed %s: %w", key.key, err)
	}
	s.known.testbeds.Add(key, id)
	return id, nil
}

// Limits on testbeds of a project: in total, and the count at which forks can add no more. The
// name of a testbed is untrusted input.
const (
	mostTestbeds = 500
	forkTestbeds = 100
)

func (s *Store) roomForTestbed(ctx context.Context, r *row, key string) error {
	var have int64
	var known bool
	err := s.db.Of(r.project).QueryRow(ctx, `select count(*), coalesce(bool_or(key = $2), false) from pawl.testbed where project_id = $1`, r.project, key).Scan(&have, &known)
	if err != nil {
		return fmt.Errorf("cannot count the testbeds of project %d: %w", r.project, err)
	}
	most := int64(mostTestbeds)
	if r.in.Lane == client.Fork {
		most = forkTestbeds
	}
	if !known && have >= most {
		return &QuotaError{"testbeds", most}
	}
	return nil
}

// nameSeries finds the series of every point and adds new ones.
func (s *Store) nameSeries(ctx context.Context, r *row) error {
	points := r.report.Points
	r.ids = make([]int64, len(points))
	key := func(n int) seriesKey {
		return seriesKey{r.project, r.testbeds[points[n].Timer], r.lane, r.report.Suite, points[n].CaseKey}
	}
	var wrong error
	check := func(n int, row seriesRow) {
		r.ids[n] = row.id
		if p := &points[n]; row.unit != p.Unit && wrong == nil {
			wrong = &pg.InvalidError{What: fmt.Sprintf("%s is stored in %q and was reported in %q: give the new metric another name", p.CaseKey, row.unit, p.Unit)}
		} else if row.path != p.Path || row.better != string(p.Better) || row.owners != strings.Join(p.Owners, "\n") {
			r.moved = append(r.moved, n)
		}
	}
	s.known.series.Get(len(points), key, check)
	if slices.Contains(r.ids, 0) && wrong == nil {
		if err := s.checkNew(ctx, r); err != nil {
			return err
		}
		turn := &s.known.naming[uint64(r.project)%uint64(len(s.known.naming))]
		turn.Lock()
		defer turn.Unlock()
		r.moved = nil
		s.known.series.Get(len(points), key, check) // the previous holder of the lock may have added them
		if slices.Contains(r.ids, 0) {
			if err := s.addSeries(ctx, r, key, check); err != nil {
				return err
			}
		}
	}
	if wrong != nil {
		return wrong
	}
	return s.describe(ctx, r, key)
}

// checkNew returns an error for reports that will not be stored, so that they add no shared rows: one
// that was sent before, or one whose blobs are missing.
func (s *Store) checkNew(ctx context.Context, r *row) error {
	if r.checked {
		return nil
	}
	var lacks []string
	var sent bool
	err := s.db.ReadBatch(ctx, r.project, func(b *pgx.Batch) {
		b.Queue(`select exists (select from pawl.receipt where project_id = $1 and key = $2)`, r.project, r.key).
			QueryRow(func(row pgx.Row) error { return row.Scan(&sent) })
		b.Queue(`select encode(d, 'hex') from unnest($2::bytea[]) d where not exists (select from pawl.blob where project_id = $1 and digest = d)`,
			r.project, r.blobs.digests).
			Query(func(rows pgx.Rows) (err error) { lacks, err = pgx.CollectRows(rows, pgx.RowTo[string]); return err })
	})
	switch {
	case err != nil:
		return fmt.Errorf("cannot check whether the report is new: %w", err)
	case sent:
		return errSent
	case len(lacks) > 0:
		return &MissingBlobsError{lacks}
	}
	r.checked = true
	return nil
}

// errSent ends the preparation of a report that is already stored; the caller returns its receipt.
var errSent = fmt.Errorf("the report was already sent")

func (s *Store) addSeries(ctx context.Context, r *row, key func(int) seriesKey, check func(int, seriesRow)) error {
	if err := s.roomForSeries(ctx, r); err != nil {
		return err
	}
	points := r.report.Points
	var names, benchmarks, configs, caches, metrics, implementations, units, betters, paths, owners, words []string
	var testbeds []int64
	type place struct {
		name, implementation string
		testbed              int64
	}
	index := map[place][]int{}
	for n, p := range points {
		if r.ids[n] != 0 {
			continue
		}
		name, testbed := p.Name(), r.testbeds[p.Timer]
		at := place{name, p.Implementation, testbed}
		if index[at] = append(index[at], n); len(index[at]) > 1 {
			continue // a different spelling of the same case
		}
		names, benchmarks, configs = append(names, name), append(benchmarks, p.Benchmark), append(configs, p.Config)
		caches, metrics = append(caches, string(p.Cache)), append(metrics, p.Metric)
		implementations, units, betters = append(implementations, p.Implementation), append(units, p.Unit), append(betters, string(p.Better))
		paths, owners, testbeds = append(paths, p.Path), append(owners, strings.Join(p.Owners, "\n")), append(testbeds, testbed)
		words = append(words, r.words(&p))
	}
	got := map[int]seriesRow{}
	err := s.db.ReadBatch(ctx, r.project, func(b *pgx.Batch) {
		// Sorted, so that two servers that add the same series cannot deadlock.
		b.Queue(`with added as (
			insert into pawl.series (project_id, suite, lane, created, name, benchmark, config, cache, metric, implementation, unit, better, path, owners, testbed_id, words)
			select $1, $2, $3, $4, name, benchmark, config, cache, metric, implementation, unit, better, path,
			  case owners when '' then '{}' else string_to_array(owners, E'\n') end, testbed, words
			from unnest($5::text[], $6::text[], $7::text[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::bigint[], $16::text[])
			  as t(name, benchmark, config, cache, metric, implementation, unit, better, path, owners, testbed, words)
			order by name, implementation, testbed
			on conflict do nothing returning id, lane, words)
			insert into pawl.series_word (project_id, word, lane, series_id)
			select $1, word, lane, id from added, unnest(string_to_array(ltrim(words), ' ')) word where word <> ''`,
			r.project, r.report.Suite, r.lane, r.received, names, benchmarks, configs, caches, metrics, implementations, units, betters, paths, owners, testbeds, words)
		b.Queue(`
			select s.id, s.name, s.implementation, s.testbed_id, s.unit, s.better, s.path, array_to_string(s.owners, E'\n')
			from unnest($4::text[], $5::text[], $6::bigint[]) as t(name, implementation, testbed)
			join pawl.series s on s.project_id = $1 and s.suite = $2 and s.lane = $3
			  and s.name = t.name and s.implementation = t.implementation and s.testbed_id = t.testbed`,
			r.project, r.report.Suite, r.lane, names, implementations, testbeds).
			Query(func(rows pgx.Rows) error {
				var row seriesRow
				var at place
				_, err := pgx.ForEachRow(rows, []any{&row.id, &at.name, &at.implementation, &at.testbed, &row.unit, &row.better, &row.path, &row.owners}, func() error {
					for _, n := range index[at] {
						got[n] = row
					}
					return nil
				})
				return err
			})
	})
	if err != nil {
		return fmt.Errorf("cannot look up or add %d series: %w", len(names), err)
	}
	// Cache the ids only now: the rows are committed and survive a crash.
	for n, row := range got {
		s.known.series.Add(key(n), row)
		check(n, row)
	}
	if n := slices.Index(r.ids, 0); n >= 0 {
		return fmt.Errorf("series %s was added but does not exist", points[n].CaseKey)
	}
	return nil
}

func (s *Store) roomForSeries(ctx context.Context, r *row) error {
	settings, err := s.quotas.settings(ctx, s, r.project)
	if err != nil {
		return err
	}
	most, lanes, what := s.bounds.of(settings).Series, int16(0), "series"
	if r.in.Lane == client.Fork {
		most, lanes, what = forks(0, most, forkSeries), r.lane, "series of forks"
	}
	if most == 0 {
		return nil
	}
	var have, more int64
	for _, id := range r.ids {
		if id == 0 {
			more++
		}
	}
	if err := s.db.Of(r.project).QueryRow(ctx, `select count(*) from pawl.series where project_id = $1 and lane >= $2 and deleted is null`, r.project, lanes).Scan(&have); err != nil {
		return fmt.Errorf("cannot count the series of project %d: %w", r.project, err)
	}
	if have+more > most {
		return &QuotaError{what, most}
	}
	return nil
}

// describe stores the path, owners and direction of a kernel as the newest report states them.
func (s *Store) describe(ctx context.Context, r *row, key func(int) seriesKey) error {
	if len(r.moved) == 0 {
		return nil
	}
	if err := s.checkNew(ctx, r); err != nil {
		return err
	}
	var ids []int64
	var betters, paths, owners, words []string
	for _, n := range r.moved {
		p := &r.report.Points[n]
		ids, betters, paths = append(ids, r.ids[n]), append(betters, string(p.Better)), append(paths, p.Path)
		owners, words = append(owners, strings.Join(p.Owners, "\n")), append(words, r.words(p))
	}
	err := s.db.ReadBatch(ctx, r.project, func(b *pgx.Batch) {
		b.Queue(`update pawl.series s set better = t.better, path = t.path, owners = case t.owners when '' then '{}' else string_to_array(t.owners, E'\n') end
		from unnest($2::bigint[], $3::text[], $4::text[], $5::text[]) as t(id, better, path, owners)
		where s.project_id = $1 and s.id = t.id`, r.project, ids, betters, paths, owners)
		queueWords(b, r.project, ids, words, false)
	})
	if err != nil {
		return fmt.Errorf("cannot update the description of %d series: %w", len(ids), err)
	}
	for n, at := range r.moved {
		p := &r.report.Points[at]
		s.known.series.Add(key(at), seriesRow{ids[n], p.Unit, betters[n], paths[n], owners[n]})
	}
	return nil
}

// words returns what the series of a point is found by.
func (r *row) words(p *client.Point) string {
	return wordText(wordsOf(seriesTexts(p.Name(), r.report.Suite, p.Implementation, p.Path, strings.Join(p.Owners, " "))...))
}
