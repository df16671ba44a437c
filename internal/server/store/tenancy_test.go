package store_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
)

// owner is a connection of the superuser, who sees everything.
func owner(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.WithoutCancel(t.Context())) })
	return conn
}

func must(t testing.TB, conn *pgx.Conn, sql string, args ...any) pgconn.CommandTag {
	t.Helper()
	tag, err := conn.Exec(t.Context(), sql, args...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return tag
}

// reviewed lists the tables of schema pawl without row security, and the policies that depend on
// something other than the project, each with the reason. A new table belongs to a project, or its
// exception is explained here.
//
// River's tables are in their own schema. A job holds only numbers, and its worker names the project
// before it reads anything.
var reviewed = map[string]string{
	"project":       "the list of projects, read before one is selected: names and settings, no measurements, no secrets",
	"account":       "people belong to the server, not to a project: the name comes from the issuer",
	"login":         "belongs to an account, and is found by the hash of a cookie before anything else is known",
	"token_use":     "tokens belong to the issuer: which were used, by digest",
	"device":        "cards belong to the server, not to a project: model, host, power, price",
	"calibration":   "belongs to a card: how much it differs from itself, with pawl's own kernel",
	"migration":     "the applied migrations of the schema",
	"agent":         "hosts of the fleet belong to the server: names and hashes, found by the hash of a key",
	"agent_device":  "which agent polls which device, for all projects",
	"agent_refusal": "what the gateway refused, before any project is known",
	"member.mine":   "people see their projects before they select one; the account is that of their login",
}

// unsecured lists the tables, and policies, of schema pawl through which one project
// could see another: those that are not bound to the transaction's project.
func unsecured(t *testing.T, conn *pgx.Conn) []string {
	t.Helper()
	rows, err := conn.Query(t.Context(), `
		select c.relname, c.relrowsecurity and c.relforcerowsecurity, coalesce(p.polname, ''),
		  coalesce(pg_get_expr(p.polqual, p.polrelid), ''), coalesce(pg_get_expr(p.polwithcheck, p.polrelid), ''), coalesce(p.polcmd::text, '')
		from pg_class c join pg_namespace n on n.oid = c.relnamespace left join pg_policy p on p.polrelid = c.oid
		where n.nspname = 'pawl' and c.relkind in ('r', 'p', 'm', 'v', 'f') order by 1, 3`)
	if err != nil {
		t.Fatal(err)
	}
	const bound = "(project_id = ( SELECT pawl.here() AS here))"
	var list []string
	var table, policy, using, check, command string
	var forced bool
	_, err = pgx.ForEachRow(rows, []any{&table, &forced, &policy, &using, &check, &command}, func() error {
		switch {
		case reviewed[table] != "":
		case !forced || policy == "":
			list = append(list, table)
		case reviewed[table+"."+policy] != "":
		case using != bound || command != "r" && check != bound:
			list = append(list, table+"."+policy)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestEveryTableIsSecuredOrReviewed(t *testing.T) {
	conn := owner(t, storetest.URL(t))
	must(t, conn, `select pawl.make_partition('2026-03-01')`)
	if got := unsecured(t, conn); len(got) > 0 {
		t.Errorf("not secured by row, and not reviewed: %v", got)
	}
	// The test can fail: these are what it is there for.
	must(t, conn, `
		create table pawl.naked (project_id bigint);
		create table pawl.unforced (project_id bigint);
		alter table pawl.unforced enable row level security;
		create policy own on pawl.unforced using (project_id = (select pawl.here())) with check (project_id = (select pawl.here()));
		create table pawl.closed (project_id bigint);
		alter table pawl.closed enable row level security; alter table pawl.closed force row level security;
		create table pawl.loose (project_id bigint);
		alter table pawl.loose enable row level security; alter table pawl.loose force row level security;
		create policy own on pawl.loose using (true) with check (project_id = (select pawl.here()));
		create view pawl.window as select * from pawl.point;
		create table pawl.point_naked partition of pawl.point for values from ('2001-01-01') to ('2001-02-01')`)
	want := []string{"closed", "loose.own", "naked", "point_naked", "unforced", "window"}
	if diff := cmp.Diff(want, unsecured(t, conn)); diff != "" {
		t.Errorf("what should be found (-want +got):\n%s", diff)
	}
}

// Whatever pawl_app may do it may do through the secured parent only, and it can change
// neither the schema nor what the audit log says.
func TestTheRoleIsNobody(t *testing.T) {
	url := storetest.URL(t)
	conn := owner(t, url)
	must(t, conn, `select pawl.make_partition('2026-03-01')`)
	for what, sql := range map[string]string{
		"powers": `select count(*) from pg_roles where rolname = 'pawl_app' and (rolsuper or rolbypassrls or rolcreaterole or rolcreatedb or rolreplication or rolcanlogin)`,
		"tables of its own": `select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace
			where n.nspname = 'pawl' and pg_has_role('pawl_app', c.relowner, 'usage')`,
		"rights on partitions": `select count(*) from pg_class c where c.relispartition and c.relkind = 'r'
			and has_table_privilege('pawl_app', c.oid, 'select, insert, update, delete, truncate, references, trigger')`,
		"rights to truncate": `select count(*) from pg_class c join pg_namespace n on n.oid = c.relnamespace
			where n.nspname = 'pawl' and c.relkind in ('r', 'p') and has_table_privilege('pawl_app', c.oid, 'truncate, references, trigger')`,
		"rights to make things":    `select count(*) from pg_namespace where nspname = 'pawl' and has_schema_privilege('pawl_app', oid, 'create')`,
		"rights to change the log": `select case when has_table_privilege('pawl_app', 'pawl.audit', 'update, delete') then 1 else 0 end`,
	} {
		if n := ask(t, url, sql); n != 0 {
			t.Errorf("pawl_app has %d %s", n, what)
		}
	}
}

// For every table of a project: another project, and nobody, can neither see nor write it.
func TestNoTableCrossesProjects(t *testing.T) {
	url := storetest.URL(t)
	conn := owner(t, url)
	must(t, conn, `select pawl.make_partition('2026-03-01')`)
	must(t, conn, `insert into pawl.project (slug, name) values ('a', 'a'), ('b', 'b')`)
	rows, err := conn.Query(t.Context(), `
		select c.relname from pg_class c join pg_namespace n on n.oid = c.relnamespace
		where n.nspname = 'pawl' and c.relkind in ('r', 'p') and not c.relispartition order by 1`)
	if err != nil {
		t.Fatal(err)
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatal(err)
	}
	tried := 0
	for _, table := range tables {
		if reviewed[table] != "" {
			continue
		}
		tried++
		t.Run(table, func(t *testing.T) {
			names, values := sampleRow(t, conn, table)
			insert := func(project int) string {
				return fmt.Sprintf("insert into pawl.%s (%s) overriding system value values (%s)", table, names, strings.ReplaceAll(values, "PROJECT", fmt.Sprint(project)))
			}
			must(t, conn, "set session_replication_role = replica") // rows alone, without what they refer to
			must(t, conn, insert(1))
			must(t, conn, "set session_replication_role = origin")
			for _, who := range []string{"2", ""} {
				crossing(t, url, table, who, insert(1))
			}
			if who := asRole(t, url, "1"); must(t, who, "select * from pawl."+table).RowsAffected() != 1 {
				t.Error("its own project does not see it: the test tests nothing")
			}
		})
	}
	if tried < 17 {
		t.Errorf("%d tables were tried", tried)
	}
}

// asRole is a connection as the server's, that named a project for all of its life.
func asRole(t *testing.T, url, project string) *pgx.Conn {
	t.Helper()
	conn := owner(t, url)
	must(t, conn, "set role pawl_app")
	must(t, conn, "select set_config('pawl.project', $1, false)", project)
	return conn
}

func crossing(t *testing.T, url, table, who, insert string) {
	t.Helper()
	conn := asRole(t, url, who)
	if n := must(t, conn, "select * from pawl."+table).RowsAffected(); n != 0 {
		t.Errorf("project %q sees %d rows of project 1", who, n)
	}
	for _, sql := range []string{"update pawl." + table + " set project_id = 2", "update pawl." + table + " set project_id = project_id", "delete from pawl." + table} {
		if tag, err := conn.Exec(t.Context(), sql); err == nil && tag.RowsAffected() != 0 {
			t.Errorf("project %q: %s changed %d rows", who, sql, tag.RowsAffected())
		}
	}
	// As a copy, so that no key is set twice: only row security can refuse it.
	must(t, conn, "begin")
	_, err := conn.Exec(t.Context(), insert)
	if pg, ok := errors.AsType[*pgconn.PgError](err); !ok || pg.Code != "42501" {
		t.Errorf("project %q wrote a row of project 1: %v", who, err)
	}
	must(t, conn, "rollback")
}

// sampleRow makes up values for all columns that must have one.
func sampleRow(t *testing.T, conn *pgx.Conn, table string) (names, values string) {
	t.Helper()
	rows, err := conn.Query(t.Context(), `
		select column_name, data_type from information_schema.columns
		where table_schema = 'pawl' and table_name = $1 and (is_nullable = 'NO' and column_default is null) order by ordinal_position`, table)
	if err != nil {
		t.Fatal(err)
	}
	some := map[string]string{
		"bigint": "7", "integer": "7", "smallint": "1", "real": "1", "double precision": "1", "text": "'x'", "bytea": `'\x00'`, "boolean": "true",
		"jsonb": "'{}'", "ARRAY": "'{}'", "timestamp with time zone": "'2026-03-02'",
	}
	special := map[string]string{
		"project_id": "PROJECT", "member.role": "'viewer'", "event.kind": "'step'", "hook.kind": "'json'", "gate.state": "'waiting'",
		"gated.repository": "'a/b'", "gated.models": "'{l4}'", "gated.secret": "'0123456789abcdef'",
	}
	var n, v []string
	var name, kind string
	_, err = pgx.ForEachRow(rows, []any{&name, &kind}, func() error {
		value := some[kind]
		for _, key := range []string{name, table + "." + name} {
			if s, ok := special[key]; ok {
				value = s
			}
		}
		n, v = append(n, name), append(v, value)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(n, ", "), strings.Join(v, ", ")
}

// Connections are shared, and never remember whom they served: many projects at once, by
// way of few connections, with requests that fail and that are given up in between.
func TestPooledConnectionsForget(t *testing.T) {
	url := storetest.URL(t)
	s, err := store.Open(t.Context(), store.Config{URL: url, Conns: 4, AllowUnsafe: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	const projects, requests = 20, 2000
	var ids [projects]int64
	for n := range ids {
		ids[n] = projectNamed(t, s, fmt.Sprint("p", n))
		if _, err := s.AddHook(t.Context(), ids[n], alert.Hook{Kind: "json", URL: fmt.Sprint("https://example.com/", n)}); err != nil {
			t.Fatal(err)
		}
	}
	var all sync.WaitGroup
	for worker := range 16 {
		all.Go(func() {
			for n := worker; n < requests; n += 16 {
				mixedRequest(t, s, n, n*7%projects, ids[:])
			}
		})
	}
	all.Wait()
	for range 4 {
		conn, err := s.DB().Pool.Acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Release()
		var left string
		var seen int
		if err := conn.QueryRow(t.Context(), `select coalesce(current_setting('pawl.project', true), ''), (select count(*) from pawl.hook)`).Scan(&left, &seen); err != nil {
			t.Fatal(err)
		}
		if left != "" || seen != 0 {
			t.Errorf("a connection remembers project %q and sees %d rows", left, seen)
		}
	}
}

func mixedRequest(t *testing.T, s *store.Store, n, who int, ids []int64) {
	t.Helper()
	switch n % 5 {
	case 0: // a write that is refused
		if _, err := s.AddHook(t.Context(), ids[who], alert.Hook{Kind: "pigeon"}); err == nil {
			t.Error("a hook of no kind was taken")
		}
	case 1: // a request that is given up
		ctx, cancel := context.WithCancel(t.Context())
		go cancel()
		_, _ = s.Hooks(ctx, ids[who])
	case 2: // several statements of one transaction
		if err := s.Audit(t.Context(), ids[who], "test", "look", map[string]string{"n": fmt.Sprint(n)}); err != nil {
			t.Error(err)
		}
	default:
		hooks, err := s.Hooks(t.Context(), ids[who])
		urls := []string{}
		for _, h := range hooks {
			urls = append(urls, h.URL)
		}
		if want := []string{fmt.Sprint("https://example.com/", who)}; err != nil || !slices.Equal(urls, want) {
			t.Errorf("project %d sees %v, %v", who, urls, err)
		}
	}
}
