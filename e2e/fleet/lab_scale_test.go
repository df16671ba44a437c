package fleet

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"

	"github.com/goatnote-inc/pawl/internal/base/await"
	workflows "github.com/goatnote-inc/pawl/internal/fleet/gate"
)

// The load of docs/explanation/fleet-capacity.md, with gates that run twelve times as fast: a measurement takes 30 s instead
// of 360, and sends its 180 heartbeats in them.
const (
	labDevices = 1000
	labModels  = 8
	labHold    = 30 * time.Second
	labBeat    = labHold / 180
	labMean    = 100_000.0 / 86400
	labPeak    = 1000.0 / 360     // all devices are busy
	labPlanned = 10 * time.Minute // for these two rates
	labClients = 32
	// labActivities are those of a gate and, for it, of its placer, which are local.
	labActivities = 7 + 2
)

// TestLabScale measures how many gates Temporal carries on this machine: at the planned rates and up to the knee, and
// beside a bare workflow with as many activities.
//
//	PAWL_LAB=FOLDER [PAWL_LAB_SECONDS=90] go test ./e2e/fleet -run LabScale -v
func TestLabScale(t *testing.T) {
	folder := labFolder(t)
	length := labLength()
	l := newScaleLab(t)
	for _, table := range []struct {
		name string
		run  func(time.Duration) string
	}{{"fleet-compare.md", l.compare}, {"fleet-scale.md", l.rates}} {
		text := table.run(length)
		t.Log("\n" + text)
		must(t, os.WriteFile(filepath.Join(folder, table.name), []byte(text), 0o600))
	}
}

// TestLabNodes kills one of two nodes of Temporal with kill -9 while gates run. All gates must end.
//
//	PAWL_LAB=FOLDER go test ./e2e/fleet -run LabNodes -v
func TestLabNodes(t *testing.T) {
	folder := labFolder(t)
	l := newScaleLab(t)
	var b strings.Builder
	b.WriteString("| | gates | took | p50 | p99 | longest | failed so far |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n")
	const second = "second-node"
	l.world.startNode(t, second, filepath.Join(l.world.dir, second), l.database)
	for _, phase := range []struct {
		name  string
		gates int64
		kill  bool
	}{{"two nodes", 100, false}, {"one of two is killed", 200, true}, {"one node is left", 100, false}} {
		var ended atomic.Int64
		start := time.Now()
		times := l.closed(func() bool { return ended.Load() < phase.gates }, func(ctx context.Context, n int) error {
			err := l.gate(ctx, n, n%labModels)
			if ended.Add(1) == phase.gates/4 && phase.kill {
				_ = l.world.started[second].Process.Kill()
			}
			return err
		})
		fmt.Fprintf(&b, "| %s | %d | %.0f s | %.1f s | %.1f s | %.1f s | %d |\n", phase.name, ended.Load(), time.Since(start).Seconds(), quantile(times, 0.5), quantile(times, 0.99), quantile(times, 1), l.count("failed", "canceled"))
	}
	t.Log("\n" + b.String())
	must(t, os.WriteFile(filepath.Join(folder, "fleet-nodes.md"), []byte(b.String()), 0o600))
	if n := l.count("failed", "canceled"); n > 0 {
		t.Errorf("%d gates failed", n)
	}
	await.TrueWithin(t, patience, "all gates to end", func() bool { return l.count("waiting", "measuring") == 0 })
}

// labLength returns how long a part of a lab takes.
func labLength() time.Duration {
	seconds, err := strconv.Atoi(os.Getenv("PAWL_LAB_SECONDS"))
	if err != nil {
		seconds = 90
	}
	return time.Duration(seconds) * time.Second
}

// compare runs as much as fits through a number of clients that each wait for an answer.
func (l *scaleLab) compare(length time.Duration) string {
	l.bareWorker()
	l.hold.Store(0)
	var b strings.Builder
	fmt.Fprintf(&b, "%d clients, %.0f s each; activities only answer.\n\n| | a second | p50 | p99 | Temporal | PostgreSQL | engine, devices and clients |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n", labClients, length.Seconds())
	for _, c := range []struct {
		name string
		do   func(context.Context, int) error
	}{
		{fmt.Sprintf("bare workflows with %d activities", labActivities), l.bare(labActivities)},
		{fmt.Sprintf("bare workflows with %d activities", labActivities-2), l.bare(labActivities - 2)},
		{fmt.Sprintf("gates on %d models", labModels), func(ctx context.Context, n int) error { return l.gate(ctx, n, n%labModels) }},
		{"gates on one model", func(ctx context.Context, n int) error { return l.gate(ctx, n, 0) }},
	} {
		u := l.use()
		end := time.Now().Add(length)
		times := l.closed(func() bool { return time.Now().Before(end) }, c.do)
		fmt.Fprintf(&b, "| %s | %.1f | %.2f s | %.2f s | %s |\n", c.name, float64(len(times))/length.Seconds(), quantile(times, 0.5), quantile(times, 0.99), l.use().since(u))
	}
	return b.String()
}

// rates starts gates at the planned rates and then at higher ones, until they are not served in time.
func (l *scaleLab) rates(length time.Duration) string {
	l.hold.Store(int64(labHold))
	var b, servers strings.Builder
	servers.WriteString("\nOf each gate, measured and planned:\n\n| gates served | transactions of Temporal | WAL | kept | memory of Temporal | memory of PostgreSQL |\n| ---: | ---: | ---: | ---: | ---: | ---: |\n")
	fmt.Fprintf(&b, "%d devices.\n\n| gates started | for | served | beats | p50 | p99 | waiting at the end | Temporal | PostgreSQL | engine, devices and clients |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n", labDevices)
	for _, rate := range []float64{labMean, labPeak, 5 * labMean, 10 * labMean, 20 * labMean, 40 * labMean} {
		length := length
		if rate <= labPeak {
			length = labPlanned
		}
		o := l.open(rate, length)
		fmt.Fprintf(&b, "| %.2f/s | %.0f s | %.2f/s | %.0f/s | %.1f s | %.1f s | %d | %s |\n", rate, length.Seconds(), o.served, o.beats, o.median, o.late, o.waiting, o.used)
		fmt.Fprintf(&servers, "| %.2f/s | %s |\n", o.served, o.servers)
		l.t.Logf("%.2f/s: %+v", rate, o) // the tables come at the end
		if o.served < 0.9*rate {
			break
		}
		await.TrueWithin(l.t, patience, "the gates of a rate to end", func() bool { return l.count("waiting", "measuring") == 0 })
	}
	return b.String() + servers.String()
}

// closed lets clients repeat something while more returns true, and returns how many seconds each took that ended before that.
func (l *scaleLab) closed(more func() bool, do func(context.Context, int) error) []float64 {
	var (
		all   sync.WaitGroup
		mu    sync.Mutex
		times []float64
		n     atomic.Int64
	)
	for range labClients {
		all.Go(func() {
			for more() {
				start := time.Now()
				if err := do(l.t.Context(), int(n.Add(1))); err != nil {
					l.t.Error(err)
					return
				}
				if took := time.Since(start).Seconds(); more() {
					mu.Lock()
					times = append(times, took)
					mu.Unlock()
				}
			}
		})
	}
	all.Wait()
	return times
}

// served is what became of gates that were started at a rate.
type served struct {
	served, beats float64 // a second, after the first measurement could end
	median, late  float64 // seconds that a gate took besides its measurement
	waiting       int     // at the end
	used, servers string
}

func (l *scaleLab) open(rate float64, length time.Duration) served {
	var all sync.WaitGroup
	start := time.Now()
	tick := time.NewTicker(time.Duration(float64(time.Second) / rate))
	defer tick.Stop()
	var from usage
	var beats int64
	counted := start.Add(labHold)
	for n := 0; time.Since(start) < length; n++ {
		<-tick.C
		if beats == 0 && time.Now().After(counted) {
			from, beats, counted = l.use(), l.beats.Load(), time.Now()
		}
		all.Go(func() {
			if err := l.start(l.t.Context(), l.name(), n%labModels); err != nil {
				l.t.Error(err)
			}
		})
	}
	end := time.Now()
	to := l.use()
	temporal, postgres := l.memory()
	o := served{beats: float64(l.beats.Load()-beats) / end.Sub(counted).Seconds(), used: to.since(from), waiting: l.count("waiting")}
	o.servers = fmt.Sprintf("%s | %.0f MB | %.0f MB", to.gate(from), temporal, postgres)
	all.Wait()
	var ended int
	must(l.t, l.db.QueryRow(l.t.Context(), `select count(*) filter (where changed > $1),
		coalesce(percentile_cont(0.5) within group (order by extract(epoch from changed - created)), 0), coalesce(percentile_cont(0.99) within group (order by extract(epoch from changed - created)), 0)
		from pawl.gate where state = 'done' and created > $2 and changed <= $3`, counted, start, end).Scan(&ended, &o.median, &o.late))
	o.served = float64(ended) / end.Sub(counted).Seconds()
	o.median, o.late = max(0, o.median-labHold.Seconds()), max(0, o.late-labHold.Seconds())
	return o
}

func quantile(times []float64, q float64) float64 {
	if len(times) == 0 {
		return 0
	}
	slices.Sort(times)
	return times[min(len(times)-1, int(q*float64(len(times))))]
}

// bareWorker serves a workflow that calls activities one after the other.
func (l *scaleLab) bareWorker() {
	w := worker.New(l.client, "bare", worker.Options{})
	w.RegisterWorkflowWithOptions(func(ctx workflow.Context, activities int) error {
		ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Minute})
		for range activities {
			if err := workflow.ExecuteActivity(ctx, "nothing").Get(ctx, nil); err != nil {
				return err
			}
		}
		return nil
	}, workflow.RegisterOptions{Name: "bare"})
	w.RegisterActivityWithOptions(func(context.Context) error { return nil }, nothing)
	must(l.t, w.Start())
	l.t.Cleanup(w.Stop)
}

func (l *scaleLab) bare(activities int) func(context.Context, int) error {
	return func(ctx context.Context, _ int) error {
		run, err := l.client.ExecuteWorkflow(ctx, startBare(l.name()), "bare", activities)
		if err != nil {
			return err
		}
		return run.Get(ctx, nil)
	}
}

// gate runs a gate on one model and waits for its end.
func (l *scaleLab) gate(ctx context.Context, _, model int) error {
	id := l.name()
	if err := l.start(ctx, id, model); err != nil {
		return err
	}
	return l.client.GetWorkflow(ctx, workflows.ID(labProject, id), "").Get(ctx, nil)
}
