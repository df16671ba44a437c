package fsck

import (
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// each reports a problem for each text that a query returns, up to the limit. The queries compare whole tables.
// Without statistics, a plan that is made for any project expects few rows and reads one table for every row of the
// other: 80,000 reports took minutes instead of a second.
func (f *fsck) each(ctx context.Context, kind, do, sql string) error {
	var wrong []string
	err := f.s.DB().ReadBatch(ctx, f.project, func(b *pgx.Batch) {
		b.Queue(`select set_config('enable_nestloop', 'off', true)`)
		pg.Queue(b, pgx.RowTo[string], &wrong, sql, f.project, f.o.Most+1)
	})
	for _, what := range wrong {
		f.tell(kind, do, "%s", what)
	}
	return err
}

// receipts finds receipts without a report, and reports without a receipt.
func (f *fsck) receipts(ctx context.Context) error {
	err := f.each(ctx, "receipt", doRestore, `select format('receipt %s names report %s, which does not exist', encode(r.key, 'hex'), r.report_id) from pawl.receipt r
		where r.project_id = $1 and not exists (select from pawl.report p where p.project_id = $1 and p.id = r.report_id)
		and not exists (select from pawl.excluded x where x.project_id = $1 and x.report_id = r.report_id) limit $2`)
	if err != nil {
		return err
	}
	return f.each(ctx, "report", doReport, `select format('report %s (run %s) has no receipt: it could be stored twice', p.id, p.run) from pawl.report p
		where p.project_id = $1 and not exists (select from pawl.receipt r where r.project_id = $1 and r.report_id = p.id) limit $2`)
}

// references finds rows that refer to missing rows.
func (f *fsck) references(ctx context.Context) error {
	for _, c := range []struct{ kind, do, sql string }{
		{"report", doReport, `select format('run %s is stored %s times', run, count(*)) from pawl.report where project_id = $1 group by run having count(*) > 1 limit $2`},
		{"report", "Delete the row: there is nothing to scan.", `select format('report %s is waiting for a scan but does not exist', d.report_id) from pawl.dirty d
			where d.project_id = $1 and not exists (select from pawl.report p where p.project_id = $1 and p.id = d.report_id)
			and not exists (select from pawl.excluded x where x.project_id = $1 and x.report_id = d.report_id) limit $2`},
		{"report", doReport, `select format('report %s (run %s) is excluded and stored at once', x.report_id, x.run) from pawl.excluded x
			where x.project_id = $1 and exists (select from pawl.report p where p.project_id = $1 and p.id = x.report_id) limit $2`},
		{"series", "Delete the row: it is recomputed.", `select format('there is a state of series %s, which does not exist', t.series_id) from pawl.trend_state t
			where t.project_id = $1 and not exists (select from pawl.series s where s.project_id = $1 and s.id = t.series_id) limit $2`},
		{"event", "Delete the event: its series does not exist.", `select format('event %s names series %s, which does not exist', e.id, e.series_id) from pawl.event e
			where e.project_id = $1 and not exists (select from pawl.series s where s.project_id = $1 and s.id = e.series_id) limit $2`},
		{"event", doReport, `select format('event %s names group %s, which does not exist', e.id, e.group_id) from pawl.event e
			where e.project_id = $1 and e.group_id is not null and not exists (select from pawl.event_group g where g.project_id = $1 and g.id = e.group_id) limit $2`},
		{"blob", doRestore, `select format('report %s names blob %s, which was never stored', b.report_id, encode(b.digest, 'hex')) from pawl.report_blob b
			where b.project_id = $1 and not exists (select from pawl.blob k where k.project_id = $1 and k.digest = b.digest) limit $2`},
		{"report", doReport, `select format('there are blobs of report %s, which does not exist', b.report_id) from pawl.report_blob b
			where b.project_id = $1 and not exists (select from pawl.report p where p.project_id = $1 and p.id = b.report_id)
			and not exists (select from pawl.excluded x where x.project_id = $1 and x.report_id = b.report_id) group by b.report_id limit $2`},
	} {
		if err := f.each(ctx, c.kind, c.do, c.sql); err != nil {
			return err
		}
	}
	return nil
}

// blobs compares the rows of blobs with the stored bytes.
func (f *fsck) blobs(ctx context.Context) error {
	if f.o.Blobs == nil {
		return nil
	}
	kept := map[string]int64{}
	var old []string
	for b, err := range f.o.Blobs(ctx, f.project) {
		if err != nil {
			return fmt.Errorf("cannot list the blobs: %w", err)
		}
		kept[b.Digest] = b.Size
		if b.Modified.Before(f.s.DB().Now().Add(-store.BlobGrace)) {
			old = append(old, b.Digest)
		}
	}
	named := map[string]bool{}
	missing := map[string]bool{}
	for after := []byte{}; ; {
		rows, err := pg.List(ctx, f.s.DB(), f.project, pgx.RowToStructByPos[struct {
			Digest []byte
			Size   int64
		}], `select digest, size from pawl.blob where project_id = $1 and digest > $2 order by digest limit $3`, f.project, after, pg.MaxListed)
		if err != nil {
			return err
		}
		if len(rows) == 0 {
			break
		}
		for _, r := range rows {
			digest := hex.EncodeToString(r.Digest)
			named[digest] = true
			if size, there := kept[digest]; !there {
				missing[digest] = true
			} else if size != r.Size {
				f.tell("blob", doLost, "blob %s has %d bytes but should have %d", digest, size, r.Size)
			}
		}
		after = rows[len(rows)-1].Digest
	}
	if err := f.lost(ctx, missing); err != nil {
		return err
	}
	return f.collect(ctx, old, named)
}

// lost reports rows without bytes. A blob that arrived after the bytes were listed only seems to
// lack them. Bytes are stored before their row, so a second listing includes them. Young rows are
// not exempt: after a restore, the newest bytes are the ones that are missing.
func (f *fsck) lost(ctx context.Context, missing map[string]bool) error {
	if len(missing) == 0 {
		return nil
	}
	for b, err := range f.o.Blobs(ctx, f.project) {
		if err != nil {
			return fmt.Errorf("cannot list the blobs: %w", err)
		}
		delete(missing, b.Digest)
	}
	for _, digest := range slices.Sorted(maps.Keys(missing)) {
		_, named, err := f.s.HasBlob(ctx, f.project, digest) // retention may have removed both
		if err != nil {
			return err
		}
		if named {
			f.tell("blob", doLost, "the bytes of blob %s are missing", digest)
		}
		if f.told["blob"] > f.o.Most {
			break // the limit is reached, and each check costs a query
		}
	}
	return nil
}

// collect removes bytes that no row names, or reports them.
func (f *fsck) collect(ctx context.Context, old []string, named map[string]bool) error {
	for _, digest := range old {
		if named[digest] {
			continue
		}
		if f.o.Collect == nil {
			f.tell("blob", "Run `pawld fsck --collect` to remove it.", "nothing refers to the bytes of blob %s", digest)
			continue
		}
		if _, err := f.s.DropBytes(ctx, f.project, digest, f.o.Collect); err != nil {
			return err
		}
	}
	return nil
}

// leftovers finds rows of projects that are deleted or partly deleted. Row security shows only
// rows of the named project, so it tries each number up to the highest.
func leftovers(ctx context.Context, s *store.Store, there []int64) ([]Problem, error) {
	half, err := s.HalfDeleted(ctx)
	if err != nil {
		return nil, err
	}
	var found []Problem
	for _, id := range half {
		found = append(found, Problem{id, "leftover", "the project is partly deleted", "The server finishes the deletion at its next retention."})
	}
	exists := map[int64]bool{}
	last := int64(0)
	for _, id := range slices.Concat(there, half) {
		exists[id], last = true, max(last, id)
	}
	for id := int64(1); id < last; id++ {
		if exists[id] {
			continue
		}
		for _, table := range []string{"point", "tile", "dirty", "trend_state"} {
			some, err := pg.List(ctx, s.DB(), id, pgx.RowTo[int64], `select project_id from `+pgx.Identifier{"pawl", table}.Sanitize()+` where project_id = $1 limit 1`, id)
			if err != nil {
				return found, fmt.Errorf("cannot look for remains of project %d: %w", id, err)
			}
			if len(some) > 0 {
				found = append(found, Problem{id, "leftover", "the project is deleted, but some of its rows are left in " + table, doReport})
			}
		}
	}
	return found, nil
}
