package fleet

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
)

// Many gates of one project wait for the only device when another project sends some. The first of these is among the next two to start.
func (w *world) testFair(t *testing.T) {
	w.must(t, "pawld", "project", "create", "others")
	others := []string{"PAWL_PROJECT=others", w.key(t, "others")}
	many, few := testrun.Times(8, 40), testrun.Times(2, 6)
	r := newRepository(t)
	r.write(t, "pawl.yaml", "version: 1\nharness: {command: sh kernel.sh, format: hyperfine, files: [kernel.sh, ms], timeout: 1h}\nmeasure: {rounds: [1]}\n")
	r.commit(t, "100")
	r.commit(t, "120")
	var sent []*gate
	send := func(gates int, env ...string) {
		t.Helper()
		for range gates {
			g := w.sendGate(t, r, "cpu", env...)
			must(t, g.cmd.Process.Kill()) // the gate stays
			_ = g.wait()
			sent = append(sent, g)
		}
	}
	must(t, os.WriteFile(r.hold, []byte("0"), 0o600))
	send(1)
	await.TrueWithin(t, patience, "the first gate to measure", func() bool { return r.made() > 0 })
	waiting := func(env ...string) int {
		var queue []struct{ Lease string }
		cmd := w.command(t, w.dir, "pawl", "fleet", "queue", "--json")
		cmd.Env = append(slices.Clip(cmd.Env), env...)
		out, err := cmd.Output()
		must(t, err)
		must(t, json.Unmarshal(out, &queue))
		return len(queue)
	}
	send(many - 1)
	await.TrueWithin(t, patience, "the gates to wait", func() bool { return waiting() == many-1 })
	send(few, others...)
	await.TrueWithin(t, patience, "the gates of the other project to wait", func() bool { return waiting(others...) == few })
	must(t, os.Remove(r.hold))
	db, err := pgx.Connect(t.Context(), w.pg.URL("postgres"))
	must(t, err)
	defer db.Close(t.Context())
	ids := make([]string, len(sent))
	for i, g := range sent {
		ids[i] = g.id
	}
	for n := range ids { // each has its own time
		await.TrueWithin(t, patience, "a gate to end", func() (ended bool) {
			must(t, db.QueryRow(t.Context(), `select count(*) > $2 from pawl.publication where gate = any($1)`, ids, n).Scan(&ended))
			return ended
		})
	}
	rows, err := db.Query(t.Context(), `select p.slug from pawl.reservation r join pawl.project p on p.id = r.project_id
		where exists (select from unnest($1::text[]) id where r.lease like '%' || id || '%') order by r.start`, ids)
	must(t, err)
	order, err := pgx.CollectRows(rows, pgx.RowTo[string])
	must(t, err)
	var letters strings.Builder
	for _, project := range order {
		letters.WriteString(map[string]string{labProject: "A", "others": "B"}[project])
	}
	t.Logf("order of the starts: %s", letters.String())
	if len(order) != len(sent) || !strings.Contains(letters.String()[1:3], "B") {
		t.Errorf("%d gates started in the order %s, want B among the two after the first", len(sent), letters.String())
	}
}
