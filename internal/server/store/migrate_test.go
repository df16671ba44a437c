package store_test

import (
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/store/migrations"
	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
)

func TestMigrateTwice(t *testing.T) {
	url := storetest.URL(t)
	applied, err := migrations.Migrate(t.Context(), url)
	if err != nil || len(applied) > 0 {
		t.Fatalf("a migrated database was migrated again: %v, %v", applied, err)
	}
}

func TestPartitionsAreMadeAndDropped(t *testing.T) {
	conn, err := pgx.Connect(t.Context(), storetest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	exec := func(sql string, args ...any) {
		t.Helper()
		if _, err := conn.Exec(t.Context(), sql, args...); err != nil {
			t.Fatal(err)
		}
	}
	exec(`set role pawl_app`)
	exec(`select pawl.make_partition('2026-03-05')`)
	exec(`select pawl.make_partition('2026-03-31')`)
	exec(`select set_config('pawl.project', '7', false)`)
	exec(`insert into pawl.point values (7, 1, '2026-03-02', 1, 1, 1, 1, 0, 0, 4, 0)`)
	var dropped bool
	if err := conn.QueryRow(t.Context(), `select pawl.drop_partition('2026-03-01')`).Scan(&dropped); err != nil || dropped {
		t.Fatalf("a partition with points was dropped: %v, %v", dropped, err)
	}
	exec(`delete from pawl.point`)
	if err := conn.QueryRow(t.Context(), `select pawl.drop_partition('2026-03-01')`).Scan(&dropped); err != nil || !dropped {
		t.Fatalf("an empty partition was not dropped: %v, %v", dropped, err)
	}
	if _, err := conn.Exec(t.Context(), `insert into pawl.point values (8, 1, '2026-03-02', 1, 1, 1, 1, 0, 0, 4, 0)`); err == nil {
		t.Fatal("a point of another project was taken")
	}
}
