package fleet

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// All databases are restored from the backups that docs/how-to/backup.md makes: Temporal's are older than pawld's. A gate
// that ended in between is measured again and stays as it was, one that is in no backup is gone, and new ones run.
func (w *world) testRestore(t *testing.T) {
	testrun.NightlyOnly(t)
	dumps := t.TempDir()
	dump := func(databases ...string) {
		t.Helper()
		for _, name := range databases {
			w.pgTool(t, "pg_dump", "-Fc", "-d", w.pg.URL(name), "-f", filepath.Join(dumps, name))
		}
	}
	r := newRepository(t)
	r.commit(t, "120")
	g := w.startGate(t, r, 6, "cpu")
	dump("temporal", "temporal_visibility")
	must(t, os.Remove(r.hold))
	if code := exitCode(t, g.wait()); code != 1 {
		t.Fatalf("exit code %d, want 1\n%s", code, g.said())
	}
	before := w.must(t, "pawl", "fleet", "show", g.id, "--json")
	dump("postgres")
	lost := newRepository(t)
	lost.commit(t, "120")
	gone := w.startGate(t, lost, 6, "cpu")

	w.kill("pawld")
	w.kill("temporal-server")
	w.restore(t, dumps, "temporal", "temporal_visibility", "postgres")
	w.again("temporal-server")
	w.again("pawld")
	must(t, os.Remove(lost.hold))
	if code := exitCode(t, gone.wait()); code != 3 {
		t.Errorf("exit code %d of a gate that no backup has, want 3\n%s", code, gone.said())
	}
	calls := r.made()
	next := newRepository(t)
	next.commit(t, "120")
	if stdout, stderr, err := w.run(t, next.dir, "pawl", "run", "--base", "HEAD~1", "--on", "cpu"); exitCode(t, err) != 1 {
		t.Errorf("a gate after the restore: %v\n%s%s", err, stdout, stderr)
	}
	if after := w.must(t, "pawl", "fleet", "show", g.id, "--json"); after != before || r.made() == calls {
		t.Errorf("%d calls after the restore; the gate was and is\n%s\n%s", r.made()-calls, before, after)
	}
	w.must(t, "pawld", "fsck", "--deep")
}

// restore replaces databases by what was dumped.
func (w *world) restore(t *testing.T, dumps string, databases ...string) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), w.pg.URL("template1"))
	must(t, err)
	defer db.Close(t.Context())
	for _, name := range databases {
		quoted := pgx.Identifier{name}.Sanitize()
		_, err := db.Exec(t.Context(), "drop database "+quoted+" with (force)")
		must(t, err)
		_, err = db.Exec(t.Context(), "create database "+quoted+" template template0")
		must(t, err)
		w.pgTool(t, "pg_restore", "--exit-on-error", "-d", w.pg.URL(name), filepath.Join(dumps, name))
	}
}

// pgTool runs a program of PostgreSQL.
func (w *world) pgTool(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
}
