package server

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
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

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// load is a server with writers that never pause. What they know of it is on another disk.
type load struct {
	t       *testing.T
	w       *world
	random  *rand.Rand
	id      int64  // of the project
	key     string // of the writers
	outside string // folder of the writers
	notes   *notes
	story   story

	writers       sync.WaitGroup
	enough        atomic.Bool
	sent, refused atomic.Int64 // reports acknowledged, requests refused for want of space or of a database
	mu            sync.Mutex
	files         []string // digests of the files that were acknowledged

	serverAhead, postgresAhead time.Duration
	lost, doubled              map[string]bool
}

// newLoad starts a server on a disk, and 32 writers.
func newLoad(t *testing.T, disk string, random *rand.Rand) *load {
	t.Helper()
	l := &load{t: t, random: random, outside: t.TempDir(), story: story{n: 1, base: time.Now().UTC(), step: 1 << 30}, lost: map[string]bool{}, doubled: map[string]bool{}}
	l.notes = &notes{path: filepath.Join(l.outside, "notes")}
	l.setClock("server-clock", "0s")
	l.setClock("postgres-clock", "+0")
	var env []string
	if lib := faketime(); lib != "" {
		env = []string{
			"LD_PRELOAD=" + lib, "FAKETIME_TIMESTAMP_FILE=" + filepath.Join(l.outside, "postgres-clock"), "FAKETIME_CACHE_DURATION=1",
			"FAKETIME_DONT_FAKE_MONOTONIC=1", "FAKETIME_DISABLE_SHM=1", "NO_FAKE_STAT=1",
		}
	}
	l.w = newWorldOn(t, disk, env, "PAWLD_FAILPOINT_CLOCK_FILE="+filepath.Join(l.outside, "server-clock"))
	l.w.store(t, func(s *store.Store) {
		p, err := s.CreateProject(t.Context(), store.Project{Project: client.Project{Slug: "busy", Branch: "main"}})
		if err == nil {
			l.id = p.ID
			l.key, _, err = s.NewKey(t.Context(), p.ID, store.Key{Name: "k", Scopes: []store.Scope{store.ScopeReportMain, store.ScopeReport, store.ScopeAdmin}})
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	for writer := range 32 {
		l.writers.Go(func() { l.write(writer) })
	}
	t.Cleanup(func() { l.enough.Store(true); l.writers.Wait() })
	return l
}

// write sends reports that were measured just now, one after the other. Every eighth has a file.
func (l *load) write(writer int) {
	s := newSender(filepath.Join(l.outside, "writer"+strconv.Itoa(writer)), l.w.url, "busy", l.key, l.notes)
	s.client.Say = func(text string) {
		if strings.Contains(text, "disk space") || strings.Contains(text, "cannot reach its database") {
			l.refused.Add(1)
		}
	}
	for i := 0; !l.enough.Load(); i++ {
		r := l.story.report(i*32 + writer)
		now := time.Now().UTC()
		r.Measured, r.Commit.At, r.Suite = now, &now, "kernels"+strconv.Itoa(writer)
		var files []client.File
		if i%8 == 0 {
			files = withFile(r)
		}
		if err := s.push(context.WithoutCancel(l.t.Context()), r, files); err != nil {
			l.t.Errorf("writer %d: %v", writer, err)
			return
		}
		l.sent.Add(1)
		l.mu.Lock()
		for _, f := range files {
			l.files = append(l.files, f.Digest)
		}
		l.mu.Unlock()
	}
}

// more waits until n more reports were acknowledged, and then for a random moment.
func (l *load) more(n int64) {
	l.t.Helper()
	goal := l.sent.Load() + n
	await.TrueWithin(l.t, patience, "writers to go on", func() bool { return l.sent.Load() >= goal || l.t.Failed() })
	time.Sleep(time.Duration(l.random.Int64N(int64(300 * time.Millisecond))))
}

func (l *load) killServer() {
	if err := l.w.serve.Process.Kill(); err != nil {
		l.t.Fatal(err)
	}
	l.w.killed(l.t)
	l.w.start(l.t)
}

func (l *load) killPostgres() {
	if err := l.w.pg.Kill(); err != nil {
		l.t.Fatal(err)
	}
	if err := l.w.pg.Restart(l.t.Context()); err != nil {
		l.t.Fatal(err)
	}
}

// fillDisk fills the disk of the server and its database but for a random rest, until writers are refused, and
// makes room again. PostgreSQL may have given up: an operator starts it again. The server goes on by itself.
func (l *load) fillDisk() {
	l.t.Helper()
	ballast, err := os.Create(filepath.Join(l.w.dir, "ballast"))
	if err != nil {
		l.t.Fatal(err)
	}
	defer ballast.Close()
	refused, size := l.refused.Load(), int64(0)
	for chunk := make([]byte, 1<<20); err == nil; {
		var n int
		n, err = ballast.Write(chunk)
		size += int64(n)
	}
	if err := ballast.Truncate(max(0, size-l.random.Int64N(1<<20))); err != nil {
		l.t.Fatal(err)
	}
	await.TrueWithin(l.t, patience, "writers to be refused", func() bool { return l.refused.Load() >= refused+8 || l.t.Failed() })
	time.Sleep(time.Duration(l.random.Int64N(int64(500 * time.Millisecond))))
	if err := ballast.Truncate(0); err != nil {
		l.t.Fatal(err)
	}
	await.TrueWithin(l.t, patience, "PostgreSQL to answer", func() bool {
		conn, err := pgx.Connect(l.t.Context(), l.w.pg.URL("postgres"))
		if err == nil {
			return conn.Close(l.t.Context()) == nil
		}
		pid, err := l.w.pg.PID()
		if err != nil || errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
			if err := l.w.pg.Restart(l.t.Context()); err != nil {
				l.t.Log(err)
			}
		}
		return false
	})
	select {
	case <-l.w.ended:
		l.t.Errorf("the server ended on a full disk: %v", l.w.serve.ProcessState)
	default:
	}
}

// setClock writes the file of a clock, which may be read at the same moment.
func (l *load) setClock(name, ahead string) {
	l.t.Helper()
	path := filepath.Join(l.outside, name)
	if err := os.WriteFile(path+".new", []byte(ahead+"\n"), 0o644); err != nil {
		l.t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		l.t.Fatal(err)
	}
}

// jump moves a clock by an hour: from the right time in either direction, or back to it.
func (l *load) jump(ahead time.Duration) time.Duration {
	switch {
	case ahead != 0:
		return 0
	case l.random.IntN(2) == 0:
		return -time.Hour
	default:
		return time.Hour
	}
}

// moveServerClock waits until the server has received a report by the new time.
func (l *load) moveServerClock() {
	l.t.Helper()
	l.serverAhead = l.jump(l.serverAhead)
	newest := l.w.count(l.t, `select coalesce(max(id), 0) from pawl.report`)
	l.setClock("server-clock", l.serverAhead.String())
	await.TrueWithin(l.t, patience, "a report to be received by the new clock", func() bool {
		return l.t.Failed() || l.w.count(l.t, `select count(*) from pawl.report where id > $1 and received between $2::timestamptz - interval '20 minutes' and $2::timestamptz + interval '20 minutes'`,
			newest, time.Now().Add(l.serverAhead)) > 0
	})
}

func (l *load) movePostgresClock() {
	l.t.Helper()
	l.postgresAhead = l.jump(l.postgresAhead)
	l.setClock("postgres-clock", fmt.Sprintf("%+.0f", l.postgresAhead.Seconds()))
	await.TrueWithin(l.t, patience, "PostgreSQL to have the new time", func() bool {
		ahead := l.w.count(l.t, `select extract(epoch from now() - $1::timestamptz)::int`, time.Now().Add(l.postgresAhead))
		return -1200 < ahead && ahead < 1200
	})
}

// compare counts reports that were acknowledged and are not there, and those that are there more than once.
// Each is counted once.
func (l *load) compare() (lost, doubled int) {
	l.t.Helper()
	acknowledged := l.notes.acknowledged(l.t)
	there := l.w.runs(l.t, l.id)
	for run, receipt := range acknowledged {
		if ids := there[run]; len(ids) == 0 || ids[0] != receipt.Report {
			if !l.lost[run] {
				lost, l.lost[run] = lost+1, true
				l.t.Errorf("run %s was acknowledged as %d and is there as %v", run, receipt.Report, ids)
			}
		}
	}
	for run, ids := range there {
		if len(ids) > 1 && !l.doubled[run] {
			doubled, l.doubled[run] = doubled+1, true
			l.t.Errorf("run %s is there as %v", run, ids)
		}
	}
	return lost, doubled
}

// keep writes the table after each fault: a lab takes long.
func (l *load) keep(counts map[string]*count, disk error) {
	if lab := os.Getenv("PAWL_LAB"); lab != "" {
		if err := os.WriteFile(filepath.Join(lab, "server-faults.md"), []byte(faultTable(counts, disk)), 0o600); err != nil {
			l.t.Fatal(err)
		}
	}
}

// finish ends the load with the right time, and compares everything.
func (l *load) finish() {
	t, w := l.t, l.w
	t.Helper()
	l.setClock("server-clock", "0s")
	l.setClock("postgres-clock", "+0")
	l.enough.Store(true)
	l.writers.Wait()
	l.compare()
	acknowledged, there := l.notes.acknowledged(t), w.runs(t, l.id)
	points := w.count(t, `select (select count(*) from pawl.point where project_id = $1) + (select coalesce(sum(n), 0) from pawl.tile where project_id = $1)`, l.id)
	if len(there) != len(acknowledged) || len(there) != int(l.sent.Load()) || points != cases*len(there) {
		t.Errorf("%d reports were acknowledged, %d are there, with %d points", len(acknowledged), len(there), points)
	}
	for _, digest := range l.files {
		if code, text, err := w.do(t.Context(), http.MethodGet, "/v1/projects/busy/blobs/"+digest, l.key, nil); err != nil || code != http.StatusOK || digestOf([]byte(text)) != digest {
			t.Errorf("file %s: %d, %d bytes, %v", digest, code, len(text), err)
		}
	}
	w.quiet(t, l.id)
	if problems := w.fsck(t); problems != "" {
		t.Error(problems)
	}
}

// runs are all reports of a project that are there: their numbers by run.
func (w *world) runs(t *testing.T, project int64) map[string][]int64 {
	t.Helper()
	list := map[string][]int64{}
	w.sql(t, func(c *pgx.Conn) error {
		rows, err := c.Query(t.Context(), `select run, id from pawl.report where project_id = $1 order by id`, project)
		if err != nil {
			return err
		}
		var run string
		var id int64
		_, err = pgx.ForEachRow(rows, []any{&run, &id}, func() error {
			list[run] = append(list[run], id)
			return nil
		})
		return err
	})
	return list
}
