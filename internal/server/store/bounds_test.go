package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// What a stranger's pull requests send has bounds of its own: the project's are not used up
// by it.
func TestForksHaveQuotasOfTheirOwn(t *testing.T) {
	s, _ := opened(t)
	p, err := s.CreateProject(t.Context(), store.Project{Project: client.Project{Slug: "a"}, Settings: store.Settings{PointsPerDay: 40, Series: 400, BlobBytes: 400, ForkBlobBytes: 50}})
	if err != nil {
		t.Fatal(err)
	}
	refused := func(what string, err error) {
		t.Helper()
		if q, ok := errors.AsType[*store.QuotaError](err); !ok || q.What != what {
			t.Errorf("%v, want a quota of %s", err, what)
		}
	}
	ingest(t, s, p.ID, reportNo(0, 8), client.Fork)
	_, err = s.Ingest(t.Context(), p.ID, incoming(reportNo(1, 3), client.Fork))
	refused("points per day of forks", err)
	ingest(t, s, p.ID, reportNo(2, 30), client.Main)

	if _, err := s.AddBlob(t.Context(), p.ID, strings.Repeat("ab", 32), 40, client.Fork); err != nil {
		t.Fatal(err)
	}
	refused("bytes of blobs of forks", s.CheckBlobQuota(t.Context(), p.ID, 11, client.Fork))
	if err := s.CheckBlobQuota(t.Context(), p.ID, 300, client.Main); err != nil {
		t.Error(err)
	}
	p.Settings = store.Settings{Series: 40}
	if err := s.UpdateProject(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	_, err = s.Ingest(t.Context(), p.ID, incoming(reportNo(3, 11), client.Fork))
	refused("series of forks", err)
}

func TestTestbedsAreBounded(t *testing.T) {
	s, url := opened(t)
	project := projectNamed(t, s, "a")
	if _, err := owner(t, url).Exec(t.Context(), `insert into pawl.testbed (project_id, key, facts, timer, first)
		select $1, n::text, '{}', '', now() from generate_series(1, 100) n`, project); err != nil {
		t.Fatal(err)
	}
	_, err := s.Ingest(t.Context(), project, incoming(reportNo(0, 1), client.Fork))
	if q, ok := errors.AsType[*store.QuotaError](err); !ok || q.What != "testbeds" {
		t.Errorf("a fork adds another testbed: %v", err)
	}
	ingest(t, s, project, reportNo(1, 1), client.Main)
	ingest(t, s, project, reportNo(0, 1), client.Fork) // now it is known
	o, err := s.Overview(t.Context(), project, noon, false)
	if err != nil || o.Testbeds[0].Facts.Device != "L4" {
		t.Errorf("the testbed that was used last is not the first: %+v, %v", o.Testbeds, err)
	}
}

// The date of a commit is untrusted: it must not create any number of partitions.
func TestCommitsFromLongAgo(t *testing.T) {
	s, url := opened(t)
	project := projectNamed(t, s, "a")
	before := ask(t, url, `select count(*) from pg_inherits where inhparent = 'pawl.point'::regclass`)
	for years := range 15 {
		r := reportNo(years, 1)
		at := noon.AddDate(-11-years, 0, 0)
		if at.Year() < 2000 {
			break
		}
		r.Commit.At = &at
		_, err := s.Ingest(t.Context(), project, incoming(r, client.Main))
		if e, ok := errors.AsType[*store.InvalidError](err); !ok || !strings.Contains(e.What, "before 2016-11-15 are not stored") {
			t.Fatalf("a commit of %s: %v", at.Format(time.DateOnly), err)
		}
	}
	if after := ask(t, url, `select count(*) from pg_inherits where inhparent = 'pawl.point'::regclass`); after != before {
		t.Errorf("%d partitions more", after-before)
	}
	// If such a date comes only from the history of another report, points stay where they are.
	r := reportNo(20, 1)
	r.Commit.At = nil
	ingest(t, s, project, r, client.Main)
	old, teller := noon.AddDate(-12, 0, 0), reportNo(21, 1)
	teller.History = []client.Commit{{SHA: r.Commit.SHA, At: &old}}
	ingest(t, s, project, teller, client.Main)
	if n, err := s.Resolve(t.Context(), project); err != nil || n != 0 {
		t.Errorf("%d reports were moved: %v", n, err)
	}
}

// A deed and the line about it are there together, or neither is.
func TestDeedsAreWhole(t *testing.T) {
	s, url := opened(t)
	project, other := projectNamed(t, s, "a"), projectNamed(t, s, "b")
	sorry := errors.New("changed my mind")
	hook := func(in *store.Store) error {
		_, err := in.AddHook(t.Context(), project, alert.Hook{Kind: "slack", URL: "https://hooks.example/x"})
		return err
	}
	counts := func() string {
		return fmt.Sprint(ask(t, url, `select count(*) from pawl.hook`), ask(t, url, `select count(*) from pawl.audit`))
	}
	for _, c := range []struct {
		do   func(in *store.Store) (map[string]string, error)
		want string
	}{
		{func(in *store.Store) (map[string]string, error) {
			return map[string]string{}, errors.Join(hook(in), sorry)
		}, "0 0"},
		{func(in *store.Store) (map[string]string, error) {
			_, err := in.AddHook(t.Context(), other, alert.Hook{Kind: "slack", URL: "https://hooks.example/x"})
			return map[string]string{}, err
		}, "0 0"},
		{func(in *store.Store) (map[string]string, error) { return map[string]string{"hook": "1"}, hook(in) }, "1 1"},
		{func(*store.Store) (map[string]string, error) { return nil, nil }, "1 1"}, // nothing was done
	} {
		err := s.ChangeAudited(t.Context(), project, "mona", "hook.add", c.do)
		if got := counts(); got != c.want {
			t.Errorf("%v: hooks and lines %s, want %s", err, got, c.want)
		}
	}
	if made, err := s.NewProject(t.Context(), store.Project{Project: client.Project{Slug: "c"}}, "mona"); err != nil || counts() != "1 2" {
		t.Errorf("%+v, %v: %s", made, err, counts())
	}
	if _, err := s.NewProject(t.Context(), store.Project{Project: client.Project{Slug: "c"}}, "mona"); !errors.Is(err, store.ErrTaken) || counts() != "1 2" {
		t.Errorf("%v: %s", err, counts())
	}
}

// What runs as the owner looks nothing up where a visitor can put something.
func TestFunctionsOfTheOwnerSearchSafely(t *testing.T) {
	_, url := opened(t)
	rows, err := owner(t, url).Query(t.Context(), `select p.proname, coalesce(array_to_string(p.proconfig, ' '), '') from pg_proc p
		join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'pawl' and p.prosecdef`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		var name, settings string
		if err := rows.Scan(&name, &settings); err != nil {
			t.Fatal(err)
		}
		if n++; settings != "search_path=pg_catalog, pg_temp" {
			t.Errorf("%s runs with %q", name, settings)
		}
	}
	if n < 2 || rows.Err() != nil {
		t.Errorf("%d functions: %v", n, rows.Err())
	}
}
