package store_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/blob"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fsck"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// Every kind of damage is found and reported with a fix.
func TestFsckFinds(t *testing.T) {
	s, url := opened(t)
	project, receipts := history(t, s, "kernels", 12, 3)
	ingest(t, s, project, withSamples(t, s, project, reportNo(20, 3)), client.Main)
	if err := s.Audit(t.Context(), project, "mona", "key.create", nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Compact(t.Context(), pointstore.CompactOptions{Before: *reportNo(6, 1).Commit.At}); err != nil {
		t.Fatal(err)
	}
	clean(t, s)
	conn := owner(t, url)
	hotOne, tiled := receipts[8].Report, receipts[2].Report
	for _, c := range []struct {
		damage, kind, what string
		args               []any
	}{
		{`delete from pawl.report where id = $1`, "receipt", "names report", []any{hotOne}},
		{`delete from pawl.report where id = $1`, "point", "which does not exist", []any{tiled}},
		{`delete from pawl.receipt where report_id = $1`, "report", "no receipt", []any{hotOne}},
		{`delete from pawl.point where report_id = $1 and series_id = (select min(series_id) from pawl.point)`, "report", "should have 3 points but has 2", []any{hotOne}},
		{`update pawl.point set at = at + interval '1 second' where report_id = $1`, "point", "but the report has", []any{hotOne}},
		{`update pawl.report set points = 4 where id = $1`, "report", "should have 4 points but has 3", []any{tiled}},
		{`update pawl.report set run = (select run from pawl.report where id = $1)  where id = $1 + 1`, "report", "is stored 2 times", []any{tiled}},
		{`update pawl.tile set data = set_byte(data, 60, get_byte(data, 60) # 4)`, "tile", "checksum", nil},
		{`update pawl.tile set n = n - 1`, "tile", "its row says", nil},
		{`insert into pawl.tile select project_id, series_id, first_at - interval '1 hour', first_report, last_at, n, version, crc, data from pawl.tile limit 1`, "tile", "its row says", nil},
		{`delete from pawl.tile where series_id = (select min(series_id) from pawl.tile)`, "report", "should have 3 points but has 2", nil},
		{`insert into pawl.point select project_id, 999, at, report_id, value, low, high, spread, baseline, rounds, flags from pawl.point limit 1`, "point", "series 999", nil},
		{`insert into pawl.dirty values ($1, 999)`, "report", "is waiting for a scan", []any{project}},
		{`insert into pawl.trend_state values ($1, 999, 1, 1, now(), 1, 1, false, '')`, "series", "series 999", []any{project}},
		{`insert into pawl.event (project_id, series_id, kind, first_report, worse, from_sha, to_sha, since, at, before, after, p, group_id) select $1, min(id), 'step', 1, true, '', '', now(), now(), 1, 2, 0, 77 from pawl.series`, "event", "group 77", []any{project}},
		{`delete from pawl.blob`, "blob", "never stored", nil},
		{`update pawl.audit set actor = 'eve'`, "audit", "was changed", nil},
	} {
		restore := snapshot(t, url)
		if _, err := conn.Exec(t.Context(), c.damage, c.args...); err != nil {
			t.Fatalf("%s: %v", c.damage, err)
		}
		problems, err := fsck.Run(t.Context(), s, fsck.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.damage, err)
		}
		if !slices.ContainsFunc(problems, func(p fsck.Problem) bool {
			return p.Kind == c.kind && p.Project == project && strings.Contains(p.What, c.what) && p.Do != ""
		}) {
			t.Errorf("%s: want %s %q, found %v", c.damage, c.kind, c.what, problems)
		}
		restore()
	}
	clean(t, s)
}

// snapshot copies the tables that tests damage. restore puts the rows back.
func snapshot(t testing.TB, url string) (restore func()) {
	t.Helper()
	conn := owner(t, url)
	tables := []string{"report", "receipt", "point", "tile", "dirty", "trend_state", "event", "blob", "audit"}
	exec := func(sql string) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatalf("%s: %v", sql, err)
		}
	}
	for _, table := range tables {
		exec(`create table public.was_` + table + ` as select * from pawl.` + table)
	}
	return func() {
		for _, table := range tables {
			exec(`delete from pawl.` + table)
			exec(`insert into pawl.` + table + ` overriding system value select * from public.was_` + table)
			exec(`drop table public.was_` + table)
		}
	}
}

// Rows of a deleted project are found.
func TestFsckFindsLeftovers(t *testing.T) {
	s, url := opened(t)
	gone := projectNamed(t, s, "gone")
	projectNamed(t, s, "stays")
	if _, err := s.DeleteProject(t.Context(), gone, nil); err != nil {
		t.Fatal(err)
	}
	clean(t, s)
	hot(t, url, gone, 1, somePoints(noon, 1, 1))
	problems, err := fsck.Run(t.Context(), s, fsck.Options{})
	if err != nil || len(problems) != 1 || problems[0].Project != gone || problems[0].Kind != "leftover" {
		t.Errorf("%v, %v", problems, err)
	}
}

func TestFsckOfBlobs(t *testing.T) {
	s, _ := opened(t)
	project := projectNamed(t, s, "kernels")
	ingest(t, s, project, withSamples(t, s, project, reportNo(1, 1)), client.Main)
	samples, record := digest(reportNo(1, 1).Run+"samples"), digest(reportNo(1, 1).Run+"record")
	long := noon.AddDate(0, 0, -3)
	look := func(collect store.DropBlob, kept ...blob.Object) []fsck.Problem {
		t.Helper()
		problems, err := fsck.Run(t.Context(), s, fsck.Options{Collect: collect, Blobs: func(context.Context, int64) iter.Seq2[blob.Object, error] {
			return func(yield func(blob.Object, error) bool) {
				for _, b := range kept {
					if !yield(b, nil) {
						return
					}
				}
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		return problems
	}
	both := []blob.Object{{Digest: samples, Size: 100, Modified: long}, {Digest: record, Size: 100, Modified: long}}
	if p := look(nil, both...); len(p) != 0 {
		t.Errorf("all is there: %v", p)
	}
	if p := look(nil, blob.Object{Digest: samples, Size: 99, Modified: long}, both[1]); len(p) != 1 || !strings.Contains(p[0].What, "99 bytes") {
		t.Errorf("a blob was cut: %v", p)
	}
	young, old := blob.Object{Digest: digest("young"), Size: 1, Modified: noon.Add(-time.Hour)}, blob.Object{Digest: digest("old"), Size: 1, Modified: long}
	if p := look(nil, append(both, young, old)...); len(p) != 1 || !strings.Contains(p[0].What, old.Digest) || !strings.Contains(p[0].Do, "--collect") {
		t.Errorf("bytes that belong to nothing: %v", p)
	}
	var b bucket
	if p := look(b.drop, append(both, young, old)...); len(p) != 0 || !slices.Equal(b.gone, []string{old.Digest}) {
		t.Errorf("collected %v: %v", b.gone, p)
	}
	broken := func(context.Context, int64) iter.Seq2[blob.Object, error] {
		return func(yield func(blob.Object, error) bool) {
			yield(blob.Object{}, errors.New("the bucket is gone"))
		}
	}
	if _, err := fsck.Run(t.Context(), s, fsck.Options{Blobs: broken}); err == nil {
		t.Error("it looked at a bucket that is gone")
	}
}

// Blobs whose bytes are gone are told of, however young: a restore loses the youngest.
// Those that came while fsck looked are not.
func TestFsckOfLostBytes(t *testing.T) {
	s, _ := opened(t)
	project := projectNamed(t, s, "kernels")
	ingest(t, s, project, withSamples(t, s, project, reportNo(1, 1)), client.Main)
	samples, record := digest(reportNo(1, 1).Run+"samples"), digest(reportNo(1, 1).Run+"record")
	for _, test := range []struct {
		name  string
		lists [][]string // what is there when it is asked for, time after time
		lost  []string
	}{
		{"nothing is there", [][]string{{}, {}}, []string{samples, record}},
		{"one is lost", [][]string{{record}, {record}}, []string{samples}},
		{"both came meanwhile", [][]string{{}, {samples, record}}, nil},
		{"one came meanwhile", [][]string{{}, {record}}, []string{samples}},
	} {
		asked := 0
		problems, err := fsck.Run(t.Context(), s, fsck.Options{Blobs: func(context.Context, int64) iter.Seq2[blob.Object, error] {
			list := test.lists[min(asked, len(test.lists)-1)]
			asked++
			return func(yield func(blob.Object, error) bool) {
				for _, d := range list {
					if !yield(blob.Object{Digest: d, Size: 100, Modified: noon}, nil) {
						return
					}
				}
			}
		}})
		if err != nil || len(problems) != len(test.lost) {
			t.Errorf("%s: %v, %v", test.name, problems, err)
		}
		for _, d := range test.lost {
			if !slices.ContainsFunc(problems, func(p fsck.Problem) bool { return strings.Contains(p.What, d) }) {
				t.Errorf("%s: nothing is said of %s: %v", test.name, d, problems)
			}
		}
	}
}
