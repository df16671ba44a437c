package server

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/blob"
	"github.com/goatnote-inc/pawl/internal/server/pgtemp"
	"github.com/goatnote-inc/pawl/internal/server/queue"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/migrations"
)

const (
	labClients = 32
	labPoints  = 200
	labSuites  = 50 // 10,000 series
)

// labSettings are those that docs/how-to/server.md asks for.
var labSettings = []string{"shared_buffers=1GB", "max_wal_size=8GB", "checkpoint_timeout=15min", "wal_compression=lz4"}

// TestLabHTTP measures reports over HTTP beside bare COPY in one run, on a PostgreSQL
// with fsync on. Clients, server and database share the machine, as three processes whose
// CPU time is told apart: unlike a rate it does not depend on who else is at work.
//
//	PAWL_LAB=FOLDER [PAWL_LAB_SECONDS=60] go test ./internal/server -run LabHTTP -v
//
// The table is written to server-ingest.md of the folder too.
func TestLabHTTP(t *testing.T) {
	if os.Getenv("PAWL_LAB") == "" {
		t.Skip("a lab: set PAWL_LAB")
	}
	seconds, _ := strconv.Atoi(os.Getenv("PAWL_LAB_SECONDS"))
	span := time.Duration(max(seconds, 10)) * time.Second
	defer debug.SetGCPercent(debug.SetGCPercent(300)) // as pawld serve does
	l := newHTTPLab(t)
	for _, what := range []string{"copy", "report"} { // every series is known then, and every connection
		l.next += l.drive(l.order(what, 3*time.Second)).Reports
	}
	out := labTable(t, "server-ingest")
	out("| what | points/s | µs of CPU a point | of PostgreSQL | of the server | of the clients | p50 ms | p99 ms |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n")
	var points [2]int // by COPY, over HTTP
	var spent [2]time.Duration
	for n, name := range []string{"COPY, 200 rows a transaction, 32 clients", "HTTP, 200 points a report, 32 clients", "COPY again", "HTTP again"} {
		kind := n % 2
		l.settle()
		pg, own := treeCPU(t, l.pg), ownCPU()
		did := l.drive(l.order([]string{"copy", "report"}[kind], span))
		pg, own = treeCPU(t, l.pg)-pg, ownCPU()-own
		l.next += did.Reports
		took := time.Duration(float64(did.Reports*labPoints) / did.Rate * float64(time.Second))
		points[kind], spent[kind] = points[kind]+did.Reports*labPoints, spent[kind]+took
		each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(did.Reports*labPoints) }
		out("| %s | %.0f | %.1f | %.1f | %.1f | %.1f | %.1f | %.1f |\n", name, did.Rate, each(pg+own+did.CPU), each(pg), each(own), each(did.CPU), did.P50, did.P99)
	}
	rate := func(kind int) float64 { return float64(points[kind]) / spent[kind].Seconds() }
	out("\nOver HTTP %.0f points/s for %.0f s, %.0f %% of COPY's %.0f.\n", rate(1), spent[1].Seconds(), 100*rate(1)/rate(0), rate(0))
}

// labTable gives a way to write a table, to people and to the folder of the lab.
func labTable(t *testing.T, name string) func(format string, args ...any) {
	t.Helper()
	dir := os.Getenv("PAWL_LAB")
	var text strings.Builder
	return func(format string, args ...any) {
		fmt.Printf(format, args...)
		fmt.Fprintf(&text, format, args...)
		if info, err := os.Stat(dir); err != nil || !info.IsDir() {
			return
		}
		if err := os.WriteFile(filepath.Join(dir, name+".md"), []byte(text.String()), 0o644); err != nil {
			t.Error(err)
		}
	}
}

type httpLab struct {
	t        *testing.T
	pg       *pgtemp.Server
	url, key string
	next     int
}

func newHTTPLab(t *testing.T) *httpLab {
	t.Helper()
	pg, err := pgtemp.Start(t.Context(), pgtemp.Options{Dir: t.TempDir(), Durable: true, Settings: labSettings})
	if err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = pg.Stop(context.WithoutCancel(t.Context()), true) })
	l := &httpLab{t: t, pg: pg, next: 1}
	url := pg.URL("postgres")
	if _, err := migrations.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	if err := queue.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	jobs, err := queue.New(t.Context(), queue.Config{URL: url}) // the work that follows is noted, and not done here
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), store.Config{URL: url}, jobs.RequestScan)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	bareTable(t, url)
	blobs, err := blob.Open(t.Context(), "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	server, err := New(Config{Store: s, Blobs: blobs, URL: publicURL, Limits: Limits{PerAddress: Rate{1e6, 1e6}, PerKey: Rate{1e6, 1e6}, PerProject: Rate{1e6, 1e6}}})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(server.Handler())
	t.Cleanup(front.Close)
	p, err := s.CreateProject(t.Context(), store.Project{Project: client.Project{Slug: "lab", Name: "lab", Branch: "main"}})
	if err != nil {
		t.Fatal(err)
	}
	if l.key, _, err = s.NewKey(t.Context(), p.ID, store.Key{Name: "lab", Scopes: []store.Scope{store.ScopeReportMain, store.ScopeAdmin}, CreatedBy: "lab"}); err != nil {
		t.Fatal(err)
	}
	l.url = front.URL + "/v1/projects/lab/reports"
	return l
}

// bareTable has the columns, partitions and index of pawl.point, and nothing else.
func bareTable(t *testing.T, url string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	sql := `create table bare (like pawl.point including all) partition by range (at);`
	first := time.Date(labAt(0).Year(), labAt(0).Month(), 1, 0, 0, 0, 0, time.UTC)
	for m := range 4 {
		sql += fmt.Sprintf("create table bare%d partition of bare for values from ('%s') to ('%s');", m, first.AddDate(0, m, 0).Format(time.RFC3339), first.AddDate(0, m+1, 0).Format(time.RFC3339))
	}
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

func (l *httpLab) order(what string, span time.Duration) labOrder {
	return labOrder{What: what, URL: l.url, Key: l.key, Database: l.pg.URL("postgres"), First: l.next, Span: span}
}

// settle does what the lap before left to do, which is not the next one's.
func (l *httpLab) settle() {
	l.t.Helper()
	conn, err := pgx.Connect(l.t.Context(), l.pg.URL("postgres"))
	if err != nil {
		l.t.Fatal(err)
	}
	defer conn.Close(l.t.Context())
	for _, sql := range []string{"vacuum analyze", "checkpoint"} {
		if _, err := conn.Exec(l.t.Context(), sql); err != nil {
			l.t.Fatal(err)
		}
	}
}

// drive runs the clients, in a process of their own: TestMain is where that begins.
func (l *httpLab) drive(o labOrder) (did labDone) {
	l.t.Helper()
	o.Template = encodeReport(l.t, labReport())
	order, err := json.Marshal(o)
	if err != nil {
		l.t.Fatal(err)
	}
	clients := exec.CommandContext(l.t.Context(), os.Args[0])
	clients.Env = append(os.Environ(), "PAWL_LAB_CLIENTS=yes")
	clients.Stdin, clients.Stderr = strings.NewReader(string(order)), os.Stderr
	said, err := clients.Output()
	if err != nil {
		l.t.Fatalf("the clients: %v", err)
	}
	if err := json.Unmarshal(said, &did); err != nil {
		l.t.Fatalf("the clients said %q: %v", said, err)
	}
	return did
}

func labReport() *client.Report {
	r := example(0, labPoints)
	at := labAt(0)
	r.Suite, r.Commit.At = labSuite(0), &at
	return r
}

func ownCPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// treeCPU is the time that the processes of a PostgreSQL computed, those that ended too.
func treeCPU(t *testing.T, pg *pgtemp.Server) time.Duration {
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
		own := file == fmt.Sprintf("/proc/%d/stat", pid)
		if len(f) < 15 || !own && f[1] != strconv.Itoa(pid) {
			continue
		}
		fields := f[11:13] // user and system
		if own {
			fields = f[11:15] // and those of children that ended
		}
		for _, field := range fields {
			n, _ := strconv.ParseInt(field, 10, 64)
			ticks += n
		}
	}
	return time.Duration(ticks) * 10 * time.Millisecond
}

// labPool has a connection for each client.
func labPool(ctx context.Context, url string) (*pgxpool.Pool, error) {
	conf, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, err
	}
	conf.MaxConns = labClients
	return pgxpool.NewWithConfig(ctx, conf)
}
