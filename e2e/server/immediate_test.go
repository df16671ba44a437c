package server

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// TestImmediateStop stops PostgreSQL as a crash would, again and again, under 32 writers.
// After each stop all that was acknowledged before it is there; in the end what is there is
// what was acknowledged, no more and no less.
func TestImmediateStop(t *testing.T) {
	stops := 3
	if os.Getenv("PAWL_LAB") != "" {
		stops = 50
	}
	w := newWorld(t)
	n := &notes{path: filepath.Join(w.dir, "notes")}
	var id int64
	var key string
	w.store(t, func(s *store.Store) {
		p, err := s.CreateProject(t.Context(), store.Project{Project: client.Project{Slug: "busy", Branch: "main"}})
		if err == nil {
			id = p.ID
			key, _, err = s.NewKey(t.Context(), p.ID, store.Key{Name: "k", Scopes: []store.Scope{store.ScopeReportMain, store.ScopeReport}})
		}
		if err != nil {
			t.Fatal(err)
		}
	})
	one := story{n: 1, base: time.Now().UTC().Truncate(time.Hour).AddDate(-1, 0, 0), step: 1 << 30}
	ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	var all sync.WaitGroup
	var enough atomic.Bool
	var sent atomic.Int64
	for writer := range 32 {
		all.Go(func() {
			s := newSender(filepath.Join(w.dir, "writer", one.sha(writer)), w.url, "busy", key, n)
			for i := 0; !enough.Load(); i++ {
				r := one.report(i*32 + writer)
				var files []client.File
				if i%8 == 0 {
					files = withFile(r)
				}
				if err := s.push(ctx, r, files); err != nil {
					t.Errorf("writer %d: %v", writer, err)
					return
				}
				sent.Add(1)
			}
		})
	}
	for stop := range stops {
		goal := sent.Load() + 64
		await.TrueWithin(t, patience, "writers to go on", func() bool { return sent.Load() >= goal || t.Failed() })
		if err := w.pg.Stop(t.Context(), true); err != nil {
			t.Fatal(err)
		}
		before := n.acknowledged(t)
		if err := w.pg.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
		there := w.runs(t, id)
		for run := range before {
			if _, ok := there[run]; !ok {
				t.Errorf("stop %d: run %s was acknowledged and is not there", stop, run)
			}
		}
	}
	enough.Store(true)
	all.Wait()
	acknowledged, there := n.acknowledged(t), w.runs(t, id)
	for run, report := range there {
		if acknowledged[run].Report != report {
			t.Errorf("run %s is kept as %d and was acknowledged as %d", run, report, acknowledged[run].Report)
		}
	}
	points := w.count(t, `select (select count(*) from pawl.point where project_id = $1) + (select coalesce(sum(n), 0) from pawl.tile where project_id = $1)`, id)
	if len(there) != len(acknowledged) || len(there) != int(sent.Load()) || points != cases*len(there) {
		t.Errorf("%d reports were acknowledged, %d are kept, with %d points", len(acknowledged), len(there), points)
	}
	if problems := w.fsck(t); problems != "" {
		t.Error(problems)
	}
	table := fmt.Sprintf("| stops | reports acknowledged | reports kept | points kept | of those sent |\n| ---: | ---: | ---: | ---: | ---: |\n| %d | %d | %d | %d | %d |\n",
		stops, len(acknowledged), len(there), points, cases*sent.Load())
	t.Log("\n" + table)
	if lab := os.Getenv("PAWL_LAB"); lab != "" {
		if err := os.WriteFile(filepath.Join(lab, "server-stops.md"), []byte(table), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// runs are all that are kept of a project; one that is there twice ends the test.
func (w *world) runs(t *testing.T, project int64) map[string]int64 {
	t.Helper()
	list := map[string]int64{}
	w.sql(t, func(c *pgx.Conn) error {
		rows, err := c.Query(t.Context(), `select run, id from pawl.report where project_id = $1`, project)
		if err != nil {
			return err
		}
		var run string
		var id int64
		_, err = pgx.ForEachRow(rows, []any{&run, &id}, func() error {
			if other, twice := list[run]; twice {
				t.Errorf("run %s is there twice: %d and %d", run, other, id)
			}
			list[run] = id
			return nil
		})
		return err
	})
	return list
}
