package fleet

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.temporal.io/sdk/activity"
	temporalclient "go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/fleet/capacity"
	workflows "github.com/goatnote-inc/pawl/internal/fleet/gate"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/server/engine"
	"github.com/goatnote-inc/pawl/internal/server/pgtemp"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
	"github.com/goatnote-inc/pawl/internal/server/store/migrations"
)

// labFolder returns the folder in which a lab keeps what it measured. It skips tests without one.
func labFolder(t *testing.T) string {
	t.Helper()
	folder := os.Getenv("PAWL_LAB")
	if folder == "" {
		t.Skip("a lab: set PAWL_LAB")
	}
	must(t, os.MkdirAll(folder, 0o755))
	return folder
}

const labProject = "kernels"

var nothing = activity.RegisterOptions{Name: "nothing"}

func startBare(name string) temporalclient.StartWorkflowOptions {
	return temporalclient.StartWorkflowOptions{ID: "bare/" + name, TaskQueue: "bare"}
}

// scaleLab is a fleet of simulated devices. Temporal and PostgreSQL are processes of their own; pawld's engine and the devices
// are part of this one.
type scaleLab struct {
	t                  *testing.T
	client             temporalclient.Client
	engine             *engine.Engine
	fleet              *fleetstore.Store
	project            int64
	db                 *pgx.Conn
	temporal, postgres int    // processes
	world              *world // of Temporal
	database           string // HOST:PORT
	hold               atomic.Int64
	beats, names       atomic.Int64
}

func newScaleLab(t *testing.T) *scaleLab {
	t.Helper()
	needTemporal(t)
	dir := t.TempDir()
	pg, err := pgtemp.Start(t.Context(), pgtemp.Options{Dir: filepath.Join(dir, "pg"), Durable: true})
	if errors.Is(err, pgtemp.ErrNotInstalled) {
		t.Skip(err)
	}
	must(t, err)
	t.Cleanup(func() { _ = pg.Stop(context.WithoutCancel(t.Context()), true) })
	w := &world{t: t, dir: dir, bin: filepath.Join(dir, "bin"), started: map[string]*exec.Cmd{}}
	w.build(t, "../../cmd/pawld")
	address := w.startTemporal(t, pg)
	at, err := url.Parse(pg.URL("postgres"))
	must(t, err)
	l := &scaleLab{t: t, temporal: w.started["temporal-server"].Process.Pid, world: w, database: at.Host}
	l.openStore(pg, filepath.Join(dir, "pg", "data", "postmaster.pid"))
	l.startEngine(address)
	l.startDevices()
	l.hold.Store(0)
	await.TrueWithin(t, patience, "the first gate to start", func() bool { return l.start(t.Context(), l.name(), 0) == nil })
	await.TrueWithin(t, patience, "the first gate to end", func() bool { return l.count("waiting", "measuring") == 0 })
	return l
}

func (l *scaleLab) openStore(pg *pgtemp.Server, pidFile string) {
	t := l.t
	t.Helper()
	text, err := os.ReadFile(pidFile)
	must(t, err)
	first, _, _ := strings.Cut(string(text), "\n")
	l.postgres, err = strconv.Atoi(first)
	must(t, err)
	address := pg.URL("postgres")
	_, err = migrations.Migrate(t.Context(), address)
	must(t, err)
	all, err := store.Open(t.Context(), store.Config{URL: address, Conns: 16, AllowUnsafe: true}, nil)
	must(t, err)
	t.Cleanup(all.Close)
	p, err := all.CreateProject(t.Context(), store.Project{Project: client.Project{Slug: labProject}})
	must(t, err)
	l.fleet, l.project = fleetstore.New(all.DB()), p.ID
	l.db, err = pgx.Connect(t.Context(), address)
	must(t, err)
	t.Cleanup(func() { _ = l.db.Close(context.WithoutCancel(t.Context())) })
}

// startEngine starts what pawld does for Temporal.
func (l *scaleLab) startEngine(address string) {
	t := l.t
	t.Helper()
	var err error
	l.engine, err = engine.New(engine.Options{
		Address: address, Namespace: "pawl", Log: slog.New(slog.DiscardHandler), Fleet: l.fleet,
		Project: func(context.Context, string) (int64, error) { return l.project, nil },
	})
	must(t, err)
	t.Cleanup(l.engine.Close)
	await.TrueWithin(t, patience, "Temporal to answer", func() bool {
		_, err := l.engine.Setup(t.Context())
		return err == nil
	})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		l.engine.Work(ctx)
	}()
	t.Cleanup(func() { cancel(); <-done })
	l.client, err = temporalclient.Dial(temporalclient.Options{HostPort: address, Namespace: "pawl", Logger: log.NewStructuredLogger(slog.New(slog.DiscardHandler))})
	must(t, err)
	t.Cleanup(l.client.Close)
}

func labModel(n int) string { return fmt.Sprint("model", n) }

// startDevices lets every device wait for leases and builds at its own queues, as agents do.
func (l *scaleLab) startDevices() {
	t := l.t
	t.Helper()
	for n := range labDevices {
		id := fmt.Sprintf("GPU-5c0e3f1a-9d2b-4c7e-8a11-%012d", n)
		must(t, l.fleet.SetDevice(t.Context(), fleetstore.Device{Device: placement.Device{ID: id, Host: fmt.Sprint("host-", n), Power: placement.Ready, Price: 2}, Model: labModel(n % labModels)}))
		for _, lease := range []job.Lease{{Device: id}, {Device: id, Build: true}} {
			w := worker.New(l.client, lease.Queue(), worker.Options{DisableWorkflowWorker: true, MaxConcurrentActivityExecutionSize: 1, MaxConcurrentActivityTaskPollers: 1})
			w.RegisterActivityWithOptions(l.measure, activity.RegisterOptions{Name: lease.Activity()})
			must(t, w.Start())
			t.Cleanup(w.Stop)
		}
	}
}

// measure takes as long as a measurement and sends its heartbeats, which an agent sends itself. A build takes no time.
func (l *scaleLab) measure(ctx context.Context, lease job.Lease) (job.Result, error) {
	r := job.Result{Lease: lease.ID, Attempt: lease.Attempt, Rounds: 8, Seconds: 360}
	hold := time.Duration(l.hold.Load())
	if hold == 0 || lease.Build {
		return r, nil
	}
	end, tick := time.After(hold), time.NewTicker(labBeat)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return r, ctx.Err()
		case <-end:
			return r, nil
		case <-tick.C:
			if l.client.RecordActivityHeartbeat(ctx, activity.GetInfo(ctx).TaskToken, job.Beat{Phase: "measuring", Rounds: 8}) == nil {
				l.beats.Add(1)
			}
		}
	}
}

func (l *scaleLab) name() string { return fmt.Sprintf("01JC%022d", l.names.Add(1)) }

func (l *scaleLab) start(ctx context.Context, id string, model int) error {
	w := workflows.Work{Gate: id, Project: labProject, Bundle: strings.Repeat("b", 64), Base: strings.Repeat("1", 40), Head: strings.Repeat("2", 40), Suite: "pawl.yaml", Seconds: 600}
	models := []string{labModel(model)}
	if err := l.fleet.AddGate(ctx, l.project, w, models, ""); err != nil {
		return err
	}
	return l.engine.Start(ctx, w, models)
}

// count returns how many gates are in one of these states.
func (l *scaleLab) count(states ...string) (n int) {
	l.t.Helper()
	must(l.t, l.db.QueryRow(l.t.Context(), `select count(*) from pawl.gate where state = any($1)`, states).Scan(&n))
	return n
}

// usage is what was used up to a moment: seconds of processor time, and of Temporal's databases their transactions and bytes.
type usage struct {
	at                       time.Time
	temporal, postgres, here float64
	gates                    int // that have ended
	transactions, wal, kept  float64
}

func (l *scaleLab) use() usage {
	u := usage{at: time.Now()}
	u.temporal, _ = cpu(l.temporal)
	paths, _ := filepath.Glob("/proc/[0-9]*/stat")
	for _, path := range paths {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if seconds, parent := cpu(pid); pid == l.postgres || parent == l.postgres {
			u.postgres += seconds
		}
	}
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) == nil {
		u.here = time.Duration(r.Utime.Nano() + r.Stime.Nano()).Seconds()
	}
	u.gates = l.count("done")
	must(l.t, l.db.QueryRow(l.t.Context(), `select sum(xact_commit + xact_rollback), sum(pg_database_size(datid)), pg_current_wal_insert_lsn() - '0/0'
		from pg_stat_database where datname like 'temporal%'`).Scan(&u.transactions, &u.kept, &u.wal))
	return u
}

func (u usage) since(before usage) string {
	s := u.at.Sub(before.at).Seconds()
	return fmt.Sprintf("%.2f cores | %.2f cores | %.2f cores", (u.temporal-before.temporal)/s, (u.postgres-before.postgres)/s, (u.here-before.here)/s)
}

// gate returns what one gate took of Temporal's databases since then, beside the plan.
func (u usage) gate(before usage) string {
	plan, n := capacity.Planned.Mean(), float64(u.gates-before.gates)
	return fmt.Sprintf("%.0f, %.0f | %.0f, %.0f KB | %.0f, %.0f KB", (u.transactions-before.transactions)/n, plan.Transactions/plan.Gates,
		(u.wal-before.wal)/n/1e3, 1e3*plan.WAL/plan.Gates, (u.kept-before.kept)/n/1e3, capacity.KeptKB)
}

// memory returns the memory of Temporal and of PostgreSQL in MB.
func (l *scaleLab) memory() (temporal, postgres float64) {
	paths, _ := filepath.Glob("/proc/[0-9]*/smaps_rollup")
	for _, path := range paths {
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		text, _ := os.ReadFile(path)
		_, rest, _ := strings.Cut(string(text), "\nPss:")
		var kb float64
		if _, err := fmt.Sscan(rest, &kb); err != nil {
			continue
		}
		if pid == l.temporal {
			temporal = kb / 1e3
		} else if _, parent := cpu(pid); pid == l.postgres || parent == l.postgres {
			postgres += kb / 1e3
		}
	}
	return temporal, postgres
}

// cpu returns the processor time of a process and of its children that have ended, and its parent.
func cpu(pid int) (seconds float64, parent int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, ok := strings.Cut(string(text), ") ") // its name may contain spaces
	fields := strings.Fields(rest)
	if err != nil || !ok || len(fields) < 15 {
		return 0, 0
	}
	parent, _ = strconv.Atoi(fields[1])
	for _, f := range fields[11:15] {
		ticks, _ := strconv.ParseFloat(f, 64)
		seconds += ticks / 100
	}
	return seconds, parent
}
