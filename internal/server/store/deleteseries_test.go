package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fsck"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// A deleted series has no points, in rows or tiles, and does not come back with the next report. Everything else stays, and fsck
// has nothing to say about it.
func TestDeleteSeries(t *testing.T) {
	s, url := opened(t)
	p := projectNamed(t, s, "kernels")
	for n := range 6 {
		ingest(t, s, p, reportNo(n, 3), client.Main)
	}
	if _, err := s.Compact(t.Context(), pointstore.CompactOptions{Before: noon.Add(24 * time.Hour)}); err != nil {
		t.Fatal(err)
	}
	ingest(t, s, p, reportNo(6, 3), client.Main)
	look(t, s, p)
	id := ask(t, url, `select min(id) from pawl.series`)
	left := func() int64 {
		t.Helper()
		return ask(t, url, `select (select count(*) from pawl.point where series_id = $1) + (select count(*) from pawl.tile where series_id = $1)
			+ (select count(*) from pawl.event where series_id = $1) + (select count(*) from pawl.series_word where series_id = $1)`, id)
	}
	check := func() {
		t.Helper()
		if problems, err := fsck.Run(t.Context(), s, fsck.Options{}); err != nil || len(problems) > 0 {
			t.Errorf("%v, %v", problems, err)
		}
	}
	if err := s.DeleteSeries(t.Context(), p, id, "ada"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a series that is not excluded was deleted: %v", err)
	}
	if err := s.ExcludeSeries(t.Context(), p, id, "ada", "wrong kernel"); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteSeries(t.Context(), p, id, "ada"); err != nil {
		t.Fatal(err)
	}
	if n := left(); n != 0 {
		t.Errorf("%d rows are left", n)
	}
	check()
	if err := s.RestoreSeries(t.Context(), p, id, "ada"); !errors.Is(err, store.ErrDeleted) {
		t.Errorf("a deleted series was restored: %v", err)
	}
	ingest(t, s, p, reportNo(7, 3), client.Main)
	look(t, s, p)
	check()
	if _, err := s.Retain(t.Context(), store.RetainOptions{}); err != nil {
		t.Fatal(err)
	}
	if n := left(); n != 0 {
		t.Errorf("%d rows are left of what was sent later", n)
	}
	check()
	if list, err := s.SeriesList(t.Context(), p, store.SeriesQuery{}); err != nil || len(list) != 2 {
		t.Errorf("%d series are left: %v", len(list), err)
	}
	log, err := s.AuditLog(t.Context(), p, 0, 10)
	if err != nil || len(log) != 2 || log[0].Action != "series.delete" || log[0].Detail["name"] == "" {
		t.Errorf("%+v, %v", log, err)
	}
}
