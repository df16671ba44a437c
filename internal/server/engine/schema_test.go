package engine

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
)

// A bench is a PostgreSQL with a role for Temporal that may create databases.
type bench struct {
	t       *testing.T
	super   *url.URL
	address string // of the database temporal, which is missing
}

func newBench(t *testing.T) *bench {
	t.Helper()
	super, err := url.Parse(storetest.URL(t))
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, super: super, address: "postgres://temporal:p%40ss@" + super.Host + "/temporal?sslmode=disable"}
	b.exec("postgres", "create role temporal login createdb", "create role other login")
	t.Cleanup(func() {
		b.exec("postgres", "drop database if exists temporal with (force)", "drop database if exists temporal_visibility with (force)", "drop role temporal", "drop role other")
	})
	return b
}

// exec runs statements as the superuser.
func (b *bench) exec(database string, statements ...string) {
	b.t.Helper()
	at := *b.super
	at.Path = "/" + database
	ctx := context.WithoutCancel(b.t.Context()) // also in the cleanup
	conn, err := pgx.Connect(ctx, at.String())
	if err != nil {
		b.t.Fatal(err)
	}
	defer conn.Close(ctx)
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			b.t.Fatalf("%s: %v", s, err)
		}
	}
}

// seed creates both databases with versions of their schemas, as a tool and a server left them.
func (b *bench) seed(main, visibility string, used bool) {
	b.t.Helper()
	for name, version := range map[string]string{"temporal": main, "temporal_visibility": visibility} {
		b.exec("postgres", "create database "+name+" owner temporal")
		b.exec(name, "set role temporal", "create table schema_version (version_partition int, db_name text, curr_version text)",
			fmt.Sprintf("insert into schema_version values (0, '%s', '%s')", name, version))
	}
	b.exec("temporal", "set role temporal", "create table namespaces (id text)")
	if used {
		b.exec("temporal", "insert into namespaces values ('temporal-system')")
	}
}

// pretend puts a tool of another version first in PATH. It notes its commands, and fails.
func pretend(t *testing.T, version string) (commands func() string) {
	t.Helper()
	dir := t.TempDir()
	script := "#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'temporal-sql-tool version " + version + "'; exit; fi\n" +
		"echo \"$*\" >>" + dir + "/log\necho broken by $SQL_USER >&2\nexit 1\n"
	if err := os.WriteFile(filepath.Join(dir, schemaTool), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	return func() string {
		text, _ := os.ReadFile(filepath.Join(dir, "log"))
		return string(text)
	}
}

func TestUpdateSchema_ChecksBeforeItChanges(t *testing.T) {
	for name, tc := range map[string]struct {
		tool, running string
		prepare       func(b *bench)
		want          []string // in the error
	}{
		"a tool that was not tried":               {"1.28.0", "", nil, []string{`"1.28.0" was not tried: use 1.29 to 1.32`}},
		"a tool without a version":                {"", "", nil, []string{"was not tried"}},
		"a schema that is newer":                  {"1.30.4", "", func(b *bench) { b.seed("1.19", "1.13", true) }, []string{"schema of temporal is 1.19, newer than 1.18 of Temporal 1.30.4"}},
		"a visibility schema that is newer":       {"1.29.1", "", func(b *bench) { b.seed("1.18", "1.13", false) }, []string{"schema of temporal_visibility is 1.13, newer than 1.9"}},
		"a skipped minor version":                 {"1.31.4", "", func(b *bench) { b.seed("1.18", "1.9", true) }, []string{"schema of temporal_visibility is 1.9, and Temporal 1.31.4 needs 1.14: upgrade to 1.30 first"}},
		"a skipped minor version, both schemas":   {"1.32.1", "", func(b *bench) { b.seed("1.18", "1.13", true) }, []string{"schema of temporal is 1.18", "schema of temporal_visibility is 1.13", "upgrade to 1.31 first"}},
		"a skipped minor version, half-done":      {"1.32.1", "", func(b *bench) { b.seed("1.19", "1.12", true) }, []string{"upgrade to 1.30 first"}},
		"a schema older than all that were tried": {"1.30.4", "", func(b *bench) { b.seed("1.17", "1.9", true) }, []string{"upgrade to 1.29 first"}},
		"a server two minor versions older":       {"1.32.1", "1.30.4", nil, []string{"temporal-sql-tool is of 1.32.1, and Temporal 1.30.4 runs: use the tool of that version, or of the next minor version to upgrade"}},
		"a server that is newer":                  {"1.31.4", "1.32.1", nil, []string{"temporal-sql-tool is of 1.31.4, and Temporal 1.32.1 runs"}},
		"a database of something else": {"1.32.1", "", func(b *bench) {
			b.exec("postgres", "create database temporal owner temporal")
			b.exec("temporal", "create table a (b int)")
		}, []string{"tables that are not Temporal's"}},
		"a database that was renamed": {"1.32.1", "", func(b *bench) {
			b.seed("1.19", "1.14", true)
			b.exec("temporal", "update schema_version set db_name = 'old'")
		}, []string{"another name"}},
		"a role that may not create databases":      {"1.32.1", "", func(b *bench) { b.exec("postgres", "alter role temporal nocreatedb") }, []string{"may not create database temporal:", "may not create database temporal_visibility:", "`alter role temporal createdb`"}},
		"a role that owns neither of the databases": {"1.32.1", "", func(b *bench) { b.exec("postgres", "create database temporal owner other") }, []string{"`alter database temporal owner to temporal`"}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			commands := pretend(t, tc.tool)
			if tc.prepare != nil {
				tc.prepare(b)
			}
			did, err := UpdateSchema(t.Context(), b.address, tc.running)
			if err == nil || len(did) > 0 {
				t.Fatalf("it did %q, %v", did, err)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("it says\n%v\nwant %q", err, want)
				}
			}
			if text := commands(); text != "" {
				t.Errorf("it ran %q", text)
			}
		})
	}
}

func TestUpdateSchema_LeavesWhatIsAsWanted(t *testing.T) {
	b := newBench(t)
	commands := pretend(t, "1.32.1")
	b.seed("1.19", "1.14", true)
	for _, running := range []string{"", "1.31.4", "1.32.1"} {
		did, err := UpdateSchema(t.Context(), b.address, running)
		if err != nil || !slices.Equal(did, []string{"schema of temporal is 1.19, as wanted", "schema of temporal_visibility is 1.14, as wanted"}) || commands() != "" {
			t.Errorf("it did %q, %v, and ran %q", did, err, commands())
		}
	}
}

func TestUpdateSchema_SaysWhyTheToolFailed(t *testing.T) {
	b := newBench(t)
	commands := pretend(t, "1.31.4")
	_, err := UpdateSchema(t.Context(), b.address, "")
	if err == nil || !strings.Contains(err.Error(), "create-database of database temporal: exit status 1\nbroken by temporal") {
		t.Errorf("%v", err)
	}
	b.seed("1.18", "1.13", false)
	if _, err = UpdateSchema(t.Context(), b.address, ""); err == nil || !strings.Contains(err.Error(), "drop database temporal ") {
		t.Errorf("in an unused database it says %v", err)
	}
	b.exec("temporal", "insert into namespaces values ('temporal-system')")
	if _, err = UpdateSchema(t.Context(), b.address, ""); err == nil || strings.Contains(err.Error(), "drop") {
		t.Errorf("in a database that was used it says %v", err)
	}
	if want := "create-database\nupdate-schema --schema-name postgresql/v12/temporal\nupdate-schema --schema-name postgresql/v12/temporal\n"; commands() != want {
		t.Errorf("it ran\n%s\nwant\n%s", commands(), want)
	}
}

func TestUpdateSchema_RefusesAddresses(t *testing.T) {
	pretend(t, "1.32.1")
	t.Setenv("PGDATABASE", "temporal") // does not count
	for address, want := range map[string]string{
		"postgres://u:secret@127.0.0.1:5432":                `names the database ""`,
		"postgres://u:secret@127.0.0.1:5432/a%20b":          "names the database \"a b\"",
		"postgres://a%40b:secret@127.0.0.1:5432/temporal":   "names the role",
		"postgres://u:secret%20@127.0.0.1:5432/temporal":    "has a space",
		"postgres://u:secret@/temporal?host=/run":           "names a socket",
		"postgres://u:secret@127.0.0.1:port/temporal":       "cannot be parsed",
		"postgres://u:secret@127.0.0.1:1/temporal":          "cannot reach PostgreSQL",
		"postgres://u:secret@127.0.0.1:1/temporal?sslmode=": "cannot reach PostgreSQL",
	} {
		_, err := UpdateSchema(t.Context(), address, "")
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
	t.Setenv("PATH", t.TempDir())
	if _, err := UpdateSchema(t.Context(), "postgres://127.0.0.1/temporal", ""); err == nil || !strings.Contains(err.Error(), "is not in PATH") {
		t.Errorf("without the tool: %v", err)
	}
}

func TestPostgres_IsOldOrLacksBtreeGin(t *testing.T) {
	for _, tc := range []struct {
		p    postgres
		want string
	}{
		{postgres{version: 150018, gin: true}, ""},
		{postgres{version: 140020, gin: true}, "it is PostgreSQL 14: use version 15 or later"},
		{postgres{version: 170006}, "PostgreSQL has no btree_gin: install its contrib modules"},
	} {
		if err := tc.p.check(); err == nil && tc.want != "" || err != nil && err.Error() != tc.want {
			t.Errorf("%+v: %v, want %q", tc.p, err, tc.want)
		}
	}
}

// Temporal's own tool creates the databases, and finishes what was interrupted.
func TestUpdateSchema_WithTemporalsTool(t *testing.T) {
	if _, err := exec.LookPath(schemaTool); err != nil {
		t.Skipf("no %s in PATH", schemaTool)
	}
	var tool schemaUpdate
	if err := tool.find(t.Context()); err != nil || tool.minor != last {
		t.Skipf("no %s of Temporal 1.%d in PATH: %v", schemaTool, last, err)
	}
	b := newBench(t)
	update := func(want ...string) {
		t.Helper()
		did, err := UpdateSchema(t.Context(), b.address, "")
		if err != nil || !slices.Equal(did, want) {
			t.Fatalf("it did %q, want %q: %v", did, want, err)
		}
	}
	const asWanted, asWantedToo = "schema of temporal is 1.19, as wanted", "schema of temporal_visibility is 1.14, as wanted"
	b.exec("postgres", "create database temporal owner temporal") // and no more
	update("schema of temporal is now 1.19", "created database temporal_visibility", "schema of temporal_visibility is now 1.14")
	update(asWanted, asWantedToo)

	b.exec("temporal_visibility", "update schema_version set curr_version = '1.13'") // all is there, and it was not noted
	update(asWanted, "schema of temporal_visibility was 1.13 and is now 1.14")
	b.exec("postgres", "drop database temporal_visibility", "create database temporal_visibility owner temporal")
	b.exec("temporal_visibility", "set role temporal", "create table schema_version (version_partition int not null, db_name varchar(255) not null, creation_time timestamp, "+
		"curr_version varchar(64), min_compatible_version varchar(64), primary key (version_partition, db_name))") // the first statement of all
	update(asWanted, "schema of temporal_visibility is now 1.14")

	b.exec("temporal", "update schema_version set curr_version = '1.18'", "drop table current_chasm_executions")
	update("schema of temporal was 1.18 and is now 1.19", asWantedToo)
}
