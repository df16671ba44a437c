package queue_test

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/pgtemp"
	"github.com/goatnote-inc/pawl/internal/server/queue"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/migrations"
	"github.com/goatnote-inc/pawl/measure"
)

const (
	lagPoints = 200 // of a report
	lagSuites = 25  // 5,000 series
)

// TestLabLag measures how long a point waits until somebody has looked at it, from the
// commit of its report to the commit of the look:
// PAWL_LAB=DIR [PAWL_LAB_SECONDS=60] [PAWL_LAB_BEFORE=50] go test ./internal/server/queue -run LabLag -v
func TestLabLag(t *testing.T) {
	dir := os.Getenv("PAWL_LAB")
	if dir == "" {
		t.Skip("a lab: set PAWL_LAB")
	}
	seconds, _ := strconv.Atoi(os.Getenv("PAWL_LAB_SECONDS"))
	before, _ := strconv.Atoi(os.Getenv("PAWL_LAB_BEFORE"))
	l := newLag(t)
	l.fill(cmp.Or(before, 50))
	text := "| points/s asked for | points/s reached | points | looks | lag p50 | p99 | longest |\n| --- | --- | --- | --- | --- | --- | --- |\n"
	for _, rate := range []int{1000, 5000} {
		text += l.measure(rate, time.Duration(cmp.Or(seconds, 60))*time.Second)
	}
	t.Log("\n" + text)
	if err := os.WriteFile(filepath.Join(dir, "trend-lag.md"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// lag is a server without HTTP.
type lag struct {
	t       *testing.T
	s       *store.Store
	q       *queue.Queue
	dirty   *pgx.Conn
	project int64
	next    atomic.Int64

	mu      sync.Mutex
	waiting map[int64]time.Time // reports, since their commit
	lags    []time.Duration
	looks   int
}

func newLag(t *testing.T) *lag {
	t.Helper()
	ctx := t.Context()
	pg, err := pgtemp.Start(ctx, pgtemp.Options{Dir: t.TempDir(), Durable: true, Settings: []string{"shared_buffers=1GB", "max_wal_size=8GB"}})
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = pg.Stop(context.WithoutCancel(ctx), true) })
	url := pg.URL("postgres")
	_, err = migrations.Migrate(ctx, url)
	l := &lag{t: t, waiting: map[int64]time.Time{}}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(errors.Join(err, queue.Migrate(ctx, url)))
	l.q, err = queue.New(ctx, queue.Config{URL: url})
	must(err)
	l.s, err = store.Open(ctx, store.Config{URL: url, Conns: 16}, l.q.RequestScan)
	must(err)
	t.Cleanup(l.s.Close)
	p, err := l.s.CreateProject(ctx, store.Project{Project: client.Project{Slug: "lab"}})
	must(err)
	l.project = p.ID
	l.dirty, err = pgx.Connect(ctx, url)
	must(err)
	t.Cleanup(func() { _ = l.dirty.Close(context.WithoutCancel(ctx)) })
	must(l.q.Start(ctx, queue.Workers{Look: l.look, Waiting: l.s.PendingProjects}))
	t.Cleanup(func() { stop(t, l.q) })
	return l
}

// look notes how long what it looked at has waited. A report that is known here only
// after the look that saw it waits for the next one: the figures are never too good.
func (l *lag) look(ctx context.Context, project int64) error {
	if _, err := alert.Scan(ctx, l.s, project); err != nil {
		return err
	}
	end := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.looks++
	rows, err := l.dirty.Query(ctx, `select report_id from pawl.dirty`)
	if err != nil {
		return err
	}
	left, err := pgx.CollectRows(rows, pgx.RowTo[int64])
	if err != nil {
		return err
	}
	for id, since := range l.waiting {
		if !slices.Contains(left, id) && since.Before(end) {
			l.lags = append(l.lags, end.Sub(since))
			delete(l.waiting, id)
		}
	}
	return nil
}

func (l *lag) send() {
	r := lagReport(int(l.next.Add(1)))
	key := sha256.Sum256([]byte("pawl.report/v1\n" + r.Run))
	receipt, err := l.s.Ingest(l.t.Context(), l.project, store.Incoming{Key: hex.EncodeToString(key[:]), Body: key, Report: r, Lane: client.Main})
	if err != nil {
		l.t.Error(err)
		return
	}
	l.mu.Lock()
	l.waiting[receipt.Report] = time.Now()
	l.mu.Unlock()
}

// fill gives every series a past.
func (l *lag) fill(points int) {
	l.t.Helper()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for l.next.Load() < int64(points*lagSuites) {
				l.send()
			}
		})
	}
	wg.Wait()
	l.settle()
}

// settle waits until everything is looked at.
func (l *lag) settle() {
	l.t.Helper()
	await.True(l.t, "a look at everything", func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.waiting) == 0
	})
}

func (l *lag) measure(rate int, span time.Duration) string {
	l.t.Helper()
	l.mu.Lock()
	l.lags, l.looks = nil, 0
	l.mu.Unlock()
	var wg sync.WaitGroup
	var sent atomic.Int64
	gate := make(chan struct{}, 16)
	began := time.Now()
	for n := 0; ; n++ {
		due := began.Add(time.Duration(n) * time.Second * lagPoints / time.Duration(rate))
		if due.After(began.Add(span)) {
			break
		}
		time.Sleep(time.Until(due))
		gate <- struct{}{}
		wg.Go(func() { l.send(); sent.Add(1); <-gate })
	}
	wg.Wait()
	took := time.Since(began)
	l.settle()
	l.mu.Lock()
	defer l.mu.Unlock()
	slices.Sort(l.lags)
	at := func(share float64) time.Duration {
		return l.lags[int(share*float64(len(l.lags)-1))].Round(time.Millisecond)
	}
	points := sent.Load() * lagPoints
	return fmt.Sprintf("| %d | %.0f | %d | %d | %v | %v | %v |\n", rate, float64(points)/took.Seconds(), points, l.looks, at(0.5), at(0.99), at(1))
}

// lagReport is the n-th run: one suite after the other, a commit each time around.
func lagReport(n int) *client.Report {
	commit, suite := n/lagSuites, n%lagSuites
	at := time.Now().Add(-300 * 24 * time.Hour).Truncate(24 * time.Hour).Add(time.Duration(commit) * 10 * time.Minute)
	noise := rand.New(rand.NewPCG(uint64(n), 2))
	r := &client.Report{
		Schema: client.SchemaReport, Run: fmt.Sprintf("01LAG%021d", n), Measured: at, Suite: fmt.Sprint("suite", suite),
		Commit: client.Commit{SHA: fmt.Sprintf("%040x", commit+1), At: &at}, Branch: "main", Trust: measure.Checked,
		Testbed: measure.Testbed{Kind: gpu.NVIDIA, Device: "L4", Driver: "570.1"},
	}
	for c := range lagPoints {
		v := 1000 * math.Exp(0.01*noise.NormFloat64())
		if commit%60 >= 30 && c%7 == 0 { // there is something to be found
			v *= 1.1
		}
		r.Points = append(r.Points, client.Point{
			CaseKey: measure.CaseKey{Benchmark: "matmul", Config: fmt.Sprint("N", c), Implementation: "candidate"},
			Unit:    "ns", Timer: measure.TimerDevice, Value: v, Low: v * 0.99, High: v * 1.01, Spread: 0.01, Rounds: 8,
		})
	}
	return r
}
