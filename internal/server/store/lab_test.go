package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/pgtemp"
)

const (
	labClients = 32
	labPoints  = 200
	labSuites  = 50 // 10,000 series
)

// TestLabIngest measures Ingest beside bare COPY in one run, on a PostgreSQL with fsync
// on: PAWL_LAB=1 [PAWL_LAB_SECONDS=20] go test ./internal/server/store -run LabIngest -v
func TestLabIngest(t *testing.T) {
	if os.Getenv("PAWL_LAB") == "" {
		t.Skip("a lab: set PAWL_LAB")
	}
	seconds, _ := strconv.Atoi(os.Getenv("PAWL_LAB_SECONDS"))
	span := time.Duration(max(seconds, 10)) * time.Second
	s, pg := labStore(t, t.TempDir(), "checkpoint_timeout=15min", "wal_compression=lz4")
	url := pg.URL("postgres")
	bare := newBare(t, url)
	p := projectNamed(t, s, "lab")
	history := labHistory()
	var next atomic.Int64
	fmt.Printf("| what | points/s | of COPY in the same transactions | µs of PostgreSQL a point | µs of Go a point |\n| --- | --- | --- | --- | --- |\n")
	var base float64
	for _, lap := range []struct {
		name string
		one  func(ctx context.Context, n int) error
	}{
		{"COPY, 200 rows a transaction, 32 clients", bare.copy},
		{"Ingest, 200 points a report, 32 clients", func(ctx context.Context, n int) error {
			_, err := s.Ingest(ctx, p, incoming(labReport(n, nil), client.Main))
			return err
		}},
		{"Ingest, each with 256 parents", func(ctx context.Context, n int) error {
			_, err := s.Ingest(ctx, p, incoming(labReport(n, history), client.Main))
			return err
		}},
		{"COPY again", bare.copy},
		{"Ingest again", func(ctx context.Context, n int) error {
			_, err := s.Ingest(ctx, p, incoming(labReport(n, nil), client.Main))
			return err
		}},
	} {
		before, own := childrenCPU(t, pg), ownCPU()
		rate, points := drive(t, span, &next, lap.one)
		if base == 0 {
			base = rate
		}
		micros := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 / points }
		fmt.Printf("| %s | %.0f | %.0f %% | %.1f | %.1f |\n", lap.name, rate, 100*rate/base, micros(childrenCPU(t, pg)-before), micros(ownCPU()-own))
	}
	began := time.Now()
	const large = 1_000_000
	if err := bare.large(t.Context(), int(next.Load()), large); err != nil {
		t.Fatal(err)
	}
	rate := large / time.Since(began).Seconds()
	fmt.Printf("| one COPY of %d rows | %.0f | %.0f %% | | |\n", large, rate, 100*rate/base)
}

// drive lets all clients do one thing after the other for a while, and gives points a second.
func drive(t *testing.T, span time.Duration, next *atomic.Int64, one func(ctx context.Context, n int) error) (rate, points float64) {
	t.Helper()
	var done atomic.Int64
	var all sync.WaitGroup
	began := time.Now()
	for range labClients {
		all.Go(func() {
			for time.Since(began) < span {
				if err := one(t.Context(), int(next.Add(1))); err != nil {
					t.Error(err)
					return
				}
				done.Add(1)
			}
		})
	}
	all.Wait()
	points = float64(done.Load() * labPoints)
	return points / time.Since(began).Seconds(), points
}

// childrenCPU is the time that the processes of a PostgreSQL computed. Unlike the time
// that went by, it does not depend on who else is at work.
func childrenCPU(t *testing.T, pg *pgtemp.Server) time.Duration {
	t.Helper()
	pid, err := pg.PID()
	if err != nil {
		t.Fatal(err)
	}
	stats, _ := filepath.Glob("/proc/[0-9]*/stat")
	var ticks int64
	for _, file := range stats {
		text, _ := os.ReadFile(file)
		_, rest, _ := strings.Cut(string(text), ") ")
		f := strings.Fields(rest)
		if len(f) < 15 || f[1] != strconv.Itoa(pid) {
			continue
		}
		user, _ := strconv.ParseInt(f[11], 10, 64)
		system, _ := strconv.ParseInt(f[12], 10, 64)
		ticks += user + system
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

func ownCPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func labAt(n int) time.Time {
	return time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * 10 * time.Second)
}

func labReport(n int, history []client.Commit) *client.Report {
	r := reportNo(n, labPoints)
	at := labAt(n)
	r.Suite, r.Commit.At, r.History = fmt.Sprintf("suite%d", n%labSuites), &at, history
	return r
}

func labHistory() []client.Commit {
	var list []client.Commit
	for n := range client.MaxHistory {
		at := labAt(-n)
		list = append(list, client.Commit{SHA: sha(10_000_000 + n), At: &at, Author: "mona", Title: "before"})
	}
	return list
}

// bare is a table with the same columns, partitions and index as pawl.point, and nothing else.
type bare struct{ pool *pgxpool.Pool }

var bareColumns = []string{"project_id", "series_id", "at", "report_id", "value", "low", "high", "spread", "baseline", "rounds", "flags"}

func newBare(t *testing.T, url string) bare {
	t.Helper()
	conf, err := pgxpool.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	conf.MaxConns = labClients
	pool, err := pgxpool.NewWithConfig(t.Context(), conf)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	sql := `create table bare (like pawl.point including all) partition by range (at);`
	for m := range 6 {
		from := time.Date(2026, time.Month(9+m), 1, 0, 0, 0, 0, time.UTC)
		sql += fmt.Sprintf("create table bare%d partition of bare for values from ('%s') to ('%s');", m, from.Format(time.RFC3339), from.AddDate(0, 1, 0).Format(time.RFC3339))
	}
	if _, err := pool.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
	return bare{pool}
}

func (b bare) rows(n, rows int) pgx.CopyFromSource {
	return pgx.CopyFromSlice(rows, func(i int) ([]any, error) {
		at := n + i/labPoints
		v := float32(1000 + i%labPoints)
		return []any{int64(1), int64((at%labSuites)*labPoints + i%labPoints), labAt(at), int64(at), v, v * 0.99, v * 1.01, float32(0.01), float32(1000), int32(8), int16(8)}, nil
	})
}

func (b bare) copy(ctx context.Context, n int) error {
	_, err := b.pool.CopyFrom(ctx, pgx.Identifier{"bare"}, bareColumns, b.rows(n, labPoints))
	return err
}

func (b bare) large(ctx context.Context, n, rows int) error {
	_, err := b.pool.CopyFrom(ctx, pgx.Identifier{"bare"}, bareColumns, b.rows(n, rows))
	return err
}
