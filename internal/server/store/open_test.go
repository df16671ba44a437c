package store_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/migrations"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
)

// Each of these would break a promise; a server does not begin to make it.
func TestOpenRefuses(t *testing.T) {
	address := storetest.URL(t)
	conn := owner(t, address)
	open := func(address string, unsafe bool) error {
		s, err := store.Open(t.Context(), store.Config{URL: address, AllowUnsafe: unsafe}, nil)
		if err == nil {
			s.Close()
		}
		return err
	}
	if err := open(address, true); err != nil {
		t.Fatal(err)
	}
	refused := func(what string, err error, says string) {
		t.Helper()
		if r, ok := errors.AsType[*pg.RefusedError](err); !ok || !strings.Contains(r.Error(), says) {
			t.Errorf("%s: %v, want a refusal that says %q", what, err, says)
		}
	}
	refused("a server for tests", open(address, false), "fsync is off") // as storetest starts it
	for _, test := range []struct{ what, change, back, says string }{
		{"a role that bypasses", "alter role pawl_app bypassrls", "alter role pawl_app nobypassrls", "bypass true"},
		{"a superuser", "alter role pawl_app superuser", "alter role pawl_app nosuperuser", "superuser true"},
		{"an owner", "create table pawl.mine (); alter table pawl.mine owner to pawl_app", "drop table pawl.mine", "owns tables true"},
		{"a server that was never migrated", "alter role pawl_app rename to pawl_away", "alter role pawl_away rename to pawl_app", "run pawld migrate"},
		{"a step behind", "create table keep as select * from pawl.migration; delete from pawl.migration", "insert into pawl.migration select * from keep", "was not applied"},
	} {
		if _, err := conn.Exec(t.Context(), test.change); err != nil {
			t.Fatal(err)
		}
		refused(test.what, open(address, true), test.says)
		if _, err := conn.Exec(t.Context(), test.back); err != nil {
			t.Fatal(err)
		}
	}
	own, err := migrations.Version()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Exec(t.Context(), `insert into pawl.migration (name, digest, oldest) values ('9998_next.sql', '', $1)`, own); err != nil {
		t.Fatal(err)
	}
	if err := open(address, true); err != nil {
		t.Errorf("a newer schema that allows this version: %v", err)
	}
	if applied, err := migrations.Migrate(t.Context(), address); err != nil || len(applied) > 0 {
		t.Errorf("migrating a newer schema that allows this version: %v, %v", applied, err)
	}
	if _, err := conn.Exec(t.Context(), `insert into pawl.migration (name, digest, oldest) values ('9999_later.sql', '', '9998')`); err != nil {
		t.Fatal(err)
	}
	if err := open(address, true); !errors.Is(err, migrations.ErrNewer) {
		t.Errorf("a later schema: %v", err)
	}
	empty, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	empty.Path = "/template1"
	refused("an empty database", open(empty.String(), true), "pawld migrate")
}
