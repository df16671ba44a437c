package store_test

import (
	"testing"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/alert"
)

// A scan that takes the mark of a run which is being excluded waits for that, and reads the points that are left.
func TestScan_WaitsForAnExclusion(t *testing.T) {
	s, url := opened(t)
	p := projectNamed(t, s, "kernels")
	for n := range 20 {
		ingest(t, s, p, reportNo(n, 1), client.Main)
	}
	look(t, s, p)
	last := ingest(t, s, p, reportNo(20, 1), client.Main)

	conn := owner(t, url)
	must(t, conn, `begin`)
	must(t, conn, `select from pawl.trend_state for update`) // the exclusion changes it after its mark
	blocked := func(n int64) func() bool {
		return func() bool {
			return ask(t, url, `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`) == n
		}
	}
	excluded, scanned := make(chan error, 1), make(chan error, 1)
	go func() { excluded <- s.ExcludeRun(t.Context(), p, last.Report, "test", "far off") }()
	await.True(t, "the exclusion to wait for the test", blocked(1))
	go func() {
		_, err := alert.Scan(t.Context(), s, p)
		scanned <- err
	}()
	await.True(t, "the scan to wait for the exclusion", blocked(2))
	must(t, conn, `rollback`)
	for what, done := range map[string]chan error{"exclusion": excluded, "scan": scanned} {
		if err := <-done; err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	if points, marks := ask(t, url, `select points from pawl.trend_state`), ask(t, url, `select count(*) from pawl.dirty`); points != 20 || marks != 0 {
		t.Errorf("the scan saw %d points and left %d marks: want 20 and none", points, marks)
	}
}
