package store_test

import (
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
)

// Whoever reads points while an empty month is dropped is not made to fail: the drop waits,
// and goes away.
func TestDroppingAMonthDisturbsNoReader(t *testing.T) {
	s, url := opened(t)
	p := projectNamed(t, s, "kernels")
	r := reportNo(0, 3)
	at := noon.AddDate(-1, 0, 0)
	r.Commit.At, r.Measured = &at, at
	ingest(t, s, p, r, client.Main)
	if _, err := s.Compact(t.Context(), pointstore.CompactOptions{Project: p}); err != nil {
		t.Fatal(err)
	}
	ingest(t, s, p, reportNo(1, 3), client.Main)
	conn := owner(t, url)
	tx, err := conn.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	count := func(month time.Time) {
		t.Helper()
		var n int
		sql := `select count(*) from pawl.point where at >= $1 and at < $2`
		if err := tx.QueryRow(t.Context(), sql, month, month.AddDate(0, 1, 0)).Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
	old := time.Date(at.Year(), at.Month(), 1, 0, 0, 0, 0, time.UTC)
	count(time.Date(noon.Year(), noon.Month(), 1, 0, 0, 0, 0, time.UTC)) // has the table, not yet the old month
	read, dropped := make(chan struct{}), make(chan error, 1)
	go func() {
		for {
			_, err := s.Partitions(t.Context()) // gives up after a second
			select {
			case <-read:
				dropped <- err
				return
			default:
			}
			if err != nil {
				dropped <- err
				return
			}
		}
	}()
	waits := `select count(*) from pg_locks where relation in (select oid from pg_class where relname like 'point%') and mode = 'AccessExclusiveLock' and not granted`
	await.True(t, "the drop of a month to wait", func() bool { return ask(t, url, waits) > 0 })
	count(old)
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	close(read)
	if err := <-dropped; err != nil {
		t.Fatal(err)
	}
}
