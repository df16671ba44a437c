package store

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
	"github.com/goatnote-inc/pawl/internal/server/store/eventstore"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// Line is one line of an export: its kind, and the object in the format of the API.
type Line struct {
	Kind   string `json:"kind"` // project, testbed, commit, series, run, point, group, event or audit
	Series int64  `json:"series,omitempty"`
	Data   any    `json:"data"`
}

// ExportEnd is the last line of a complete export. The caller of Export appends it.
const ExportEnd = `{"kind":"end","data":{}}` + "\n"

// Export writes the data of a project as JSON lines: what was measured, found and done, in the
// order of kinds listed at Line. Keys and hooks are omitted: they are secrets, and useless
// elsewhere. Runs name their blobs, which are fetched by digest. Export reads page by page, so
// its memory use does not grow with the number of points. Data that arrives during the export
// may be missing from it.
func (s *Store) Export(ctx context.Context, project int64, w io.Writer) error {
	p, err := s.ProjectByID(ctx, project)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(w, 1<<16)
	e := exporter{s: s, project: project, out: json.NewEncoder(buffered)}
	if err := e.line("project", 0, p.Project); err != nil {
		return err
	}
	for _, part := range []func(context.Context) error{e.testbeds, e.commits, e.series, e.runs, e.points, e.groups, e.events, e.audit} {
		if err := part(ctx); err != nil {
			return fmt.Errorf("cannot export project %q: %w", p.Slug, err)
		}
	}
	return buffered.Flush()
}

type exporter struct {
	s       *Store
	project int64
	out     *json.Encoder
}

func (e exporter) line(kind string, series int64, data any) error {
	return e.out.Encode(Line{Kind: kind, Series: series, Data: data})
}

// pages writes pages of a list until one is empty. Each page starts after the key of the last row of the
// previous one; the first starts after the zero key.
func pages[T, K any](e exporter, kind string, key func(T) K, list func(after K) ([]T, error)) error {
	for after := *new(K); ; {
		rows, err := list(after)
		if err != nil || len(rows) == 0 {
			return err
		}
		for _, row := range rows {
			if err := e.line(kind, 0, row); err != nil {
				return err
			}
		}
		after = key(rows[len(rows)-1])
	}
}

func (e exporter) testbeds(ctx context.Context) error {
	return pages(e, "testbed", func(t client.Testbed) int64 { return t.ID }, func(after int64) ([]client.Testbed, error) {
		return pg.List(ctx, e.s.db, e.project, scanTestbed, `select `+testbedSelect+`
			where project_id = $1 and id > $2 order by id limit $3`, e.project, after, pg.MaxListed)
	})
}

func (e exporter) commits(ctx context.Context) error {
	return pages(e, "commit", func(c client.Commit) string { return c.SHA }, func(after string) ([]client.Commit, error) {
		return pg.List(ctx, e.s.db, e.project, pgx.RowToStructByPos[client.Commit],
			`select sha, parent, at, author, title from pawl.revision where project_id = $1 and sha > $2 order by sha limit $3`, e.project, after, pg.MaxListed)
	})
}

func (e exporter) series(ctx context.Context) error {
	return pages(e, "series", func(s client.Series) int64 { return s.ID }, func(after int64) ([]client.Series, error) {
		return e.s.SeriesList(ctx, e.project, SeriesQuery{After: after})
	})
}

func (e exporter) runs(ctx context.Context) error {
	return pages(e, "run", func(r client.Run) int64 { return r.ID }, func(after int64) ([]client.Run, error) {
		runs, err := pg.List(ctx, e.s.db, e.project, scanRun, `select `+runColumns+` from pawl.report
			where project_id = $1 and id > $2 order by id limit $3`, e.project, after, pg.MaxListed)
		if err != nil || len(runs) == 0 {
			return nil, err
		}
		return runs, e.blobsOf(ctx, runs)
	})
}

// blobsOf adds the blobs to runs, which are sorted by id.
func (e exporter) blobsOf(ctx context.Context, runs []client.Run) error {
	at := map[int64]int{}
	for i, r := range runs {
		at[r.ID] = i
	}
	return e.s.db.ReadBatch(ctx, e.project, func(b *pgx.Batch) {
		b.Queue(`select rb.report_id, encode(rb.digest, 'hex'), coalesce(b.size, 0), rb.kind, rb.name
			from pawl.report_blob rb left join pawl.blob b on b.project_id = rb.project_id and b.digest = rb.digest
			where rb.project_id = $1 and rb.report_id between $2 and $3 order by rb.report_id, rb.ordinal`,
			e.project, runs[0].ID, runs[len(runs)-1].ID).Query(func(rows pgx.Rows) error {
			var id int64
			var blob client.Blob
			_, err := pgx.ForEachRow(rows, []any{&id, &blob.Digest, &blob.Size, &blob.Kind, &blob.Name}, func() error {
				if i, ok := at[id]; ok {
					runs[i].Blobs = append(runs[i].Blobs, blob)
				}
				return nil
			})
			return err
		})
	})
}

func (e exporter) points(ctx context.Context) error {
	for after := int64(0); ; {
		ids, err := pg.List(ctx, e.s.db, e.project, pgx.RowTo[int64], `select id from pawl.series where project_id = $1 and id > $2 and excluded is null order by id limit $3`, e.project, after, pg.MaxListed)
		if err != nil || len(ids) == 0 {
			return err
		}
		err = e.s.Walk(ctx, e.project, ids, func(series int64, p pointcodec.Point) error { return e.line("point", series, pointstore.Stored(p)) })
		if err != nil {
			return err
		}
		after = ids[len(ids)-1]
	}
}

func (e exporter) groups(ctx context.Context) error {
	return pages(e, "group", func(g client.Group) int64 { return g.ID }, func(before int64) ([]client.Group, error) {
		return e.s.Groups(ctx, e.project, eventstore.GroupQuery{Before: before})
	})
}

func (e exporter) events(ctx context.Context) error {
	return pages(e, "event", func(v client.Event) int64 { return v.ID }, func(before int64) ([]client.Event, error) {
		return e.s.Events(ctx, e.project, eventstore.Query{Before: before})
	})
}

func (e exporter) audit(ctx context.Context) error {
	return pages(e, "audit", func(a Entry) int64 { return a.N }, func(before int64) ([]Entry, error) {
		if before == 1 {
			return nil, nil // 0 would start again
		}
		return e.s.AuditLog(ctx, e.project, before, pg.MaxListed)
	})
}
