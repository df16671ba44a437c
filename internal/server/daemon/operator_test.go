package daemon

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	parquetgo "github.com/parquet-go/parquet-go"

	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/demo"
	"github.com/goatnote-inc/pawl/internal/server/parquet"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fsck"
	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
)

// operated is a database that an operator works on.
type operated struct {
	t    *testing.T
	url  string
	env  []string
	blob string
}

func newOperated(t *testing.T) *operated {
	t.Helper()
	o := &operated{t: t, url: storetest.URL(t), blob: t.TempDir()}
	o.env = []string{"PAWLD_DATABASE_URL=" + o.url, "PAWLD_DATABASE_ALLOW_UNSAFE=true", "PAWLD_BLOBS_URL=file://" + o.blob}
	return o
}

// want runs a command and wants its exit code and words in what it says.
func (o *operated) want(code int, words []string, args ...string) string {
	o.t.Helper()
	got, out, errs := pawld(o.t, o.env, args...)
	if got != code {
		o.t.Errorf("pawld %s exits with %d, want %d\n%s%s", strings.Join(args, " "), got, code, out, errs)
	}
	for _, w := range words {
		if !strings.Contains(out+errs, w) {
			o.t.Errorf("pawld %s says\n%s%s\nwant %q", strings.Join(args, " "), out, errs, w)
		}
	}
	return out
}

// fill adds a project with some days of history, looked at.
func (o *operated) fill(slug string, days int) store.Project {
	o.t.Helper()
	s, err := store.Open(o.t.Context(), store.Config{URL: o.url, AllowUnsafe: true}, nil)
	if err != nil {
		o.t.Fatal(err)
	}
	defer s.Close()
	p, err := s.Project(o.t.Context(), slug)
	if err != nil {
		o.t.Fatal(err)
	}
	f := filler{store: s, project: p, progress: func(int, int) {}}
	if _, _, err := f.all(o.t.Context(), demo.Year(3, demo.Size{Days: days, Configs: 1})); err != nil {
		o.t.Fatal(err)
	}
	if _, err := alert.Scan(o.t.Context(), s, p.ID); err != nil {
		o.t.Fatal(err)
	}
	return p
}

// signIn lets the server know a person, as a login does.
func (o *operated) signIn(subject, name string) {
	o.t.Helper()
	s, err := store.Open(o.t.Context(), store.Config{URL: o.url, AllowUnsafe: true}, nil)
	if err != nil {
		o.t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.SignIn(o.t.Context(), "https://login.example.com", subject, name, ""); err != nil {
		o.t.Fatal(err)
	}
}

// What an operator does, in the order they would.
func TestOperator(t *testing.T) {
	o := newOperated(t)
	o.want(0, []string{"up to date"}, "migrate")
	o.want(0, []string{"ok    database", "ok    files"}, "config", "check", "--config", empty(t))
	o.want(0, []string{"created kernels", "pawld key create kernels"}, "project", "create", "kernels", "--repository", "https://github.com/example/kernels")
	o.want(4, nil, "project", "create", "kernels")
	o.want(4, nil, "project", "create", "No Such Name")
	o.want(0, []string{"kernels", "private", "https://github.com/example/kernels"}, "project", "list")

	text := o.want(0, []string{"shown only once"}, "key", "create", "kernels", "--name", "nightly", "--scope", "report:main,read")
	if !strings.HasPrefix(text, "pawl_") || strings.Count(text, "\n") != 1 {
		t.Errorf("on stdout is %q, want the key alone", text)
	}
	list := o.want(0, []string{"nightly", "report:main,read", "never used"}, "key", "list", "kernels")
	if strings.Contains(list, strings.TrimSpace(text)) {
		t.Error("the list contains the key")
	}
	var keys []store.Key
	decode(t, o.want(0, nil, "key", "list", "kernels", "--json"), &keys)
	o.want(0, []string{"is revoked"}, "key", "revoke", "kernels", fmt.Sprint(keys[0].ID))
	o.want(0, []string{"revoked "}, "key", "list", "kernels")
	o.want(4, []string{"at least one scope"}, "key", "create", "kernels", "--scope", "")
	o.want(4, []string{`unknown scope "all"`}, "key", "create", "kernels", "--scope", "all")
	o.want(4, []string{`unknown project "kernel"`}, "key", "list", "kernel")
	o.want(4, []string{"is not the number of a key"}, "key", "revoke", "kernels", "nightly")

	o.want(4, []string{"a rule needs --repository-id"}, "rule", "add", "kernels")
	o.want(0, []string{"repository 4711 of owner 42", "default branch main"}, "rule", "add", "kernels", "--repository-id", "4711", "--owner-id", "42", "--workflow", ".github/workflows/pawl.yml")
	o.want(0, []string{"repository 4711"}, "rule", "list", "kernels")
	o.want(0, []string{"rule 1 of kernels was removed"}, "rule", "remove", "kernels", "1")
	o.want(4, []string{"kernels has no rule 1"}, "rule", "remove", "kernels", "1")

	o.want(4, []string{`no person known as "ada@example.com"`}, "member", "add", "kernels", "ada@example.com")
	o.signIn("4711", "ada@example.com")
	o.signIn("4712", "lin@example.com")
	o.want(0, []string{"ada@example.com (4711 at https://login.example.com)"}, "member", "people")
	o.want(0, []string{"ada@example.com is writer of kernels"}, "member", "add", "kernels", "ada@example.com", "--role", "writer")
	o.want(4, []string{`unknown role "owner"`}, "member", "add", "kernels", "4712", "--role", "owner")
	if list := o.want(0, []string{"writer  ada@example.com"}, "member", "list", "kernels"); strings.Contains(list, "lin") {
		t.Errorf("a person without a role is listed:\n%s", list)
	}
	o.want(4, []string{"lin@example.com has no role"}, "member", "remove", "kernels", "4712")
	o.want(0, []string{"is no longer writer of kernels"}, "member", "remove", "kernels", "4711")
	o.want(0, []string{"ended 0 logins"}, "member", "logout", "ada@example.com")
	o.want(0, []string{"ended 0 logins"}, "member", "logout", "--everyone")
	o.want(4, []string{"--everyone"}, "member", "logout")
	o.want(4, []string{`no person known as "bob"`}, "member", "logout", "bob")

	o.fill("kernels", 20)
	o.want(0, []string{"packed ", " points into "}, "compact")
	o.want(4, []string{"a reason"}, "run", "exclude", "kernels", "1")
	o.want(0, []string{"run 1 of kernels is excluded", "the ledger in the repository is not changed"}, "run", "exclude", "kernels", "1", "--reason", "wrong machine")
	o.want(0, []string{"1 ", "wrong machine"}, "run", "excluded", "kernels")
	o.want(4, []string{"has no such run"}, "run", "exclude", "kernels", "1", "--reason", "wrong machine")
	o.want(0, []string{"no problems found"}, "fsck")
	o.want(0, []string{"run 1 of kernels is part of the history again"}, "run", "restore", "kernels", "1")
	o.want(4, []string{"must be excluded first"}, "run", "delete", "kernels", "1")
	o.want(0, []string{"series 1 of kernels is excluded"}, "series", "exclude", "kernels", "1", "--reason", "wrong kernel")
	o.want(0, []string{"wrong kernel"}, "series", "excluded", "kernels")
	o.want(0, []string{"series 1 of kernels is part of the history again"}, "series", "restore", "kernels", "1")
	o.want(4, []string{"has no such series"}, "series", "restore", "kernels", "1")
	o.want(4, []string{"is not the number of a run"}, "run", "restore", "kernels", "one")
	o.want(0, []string{"no problems found"}, "fsck", "--deep")
	lines := o.want(0, []string{`"kind":"point"`, `"kind":"audit"`, "key.create"}, "export", "kernels")
	if !strings.HasSuffix(lines, store.ExportEnd) {
		t.Error("the export does not end with its last line")
	}
	for line := range strings.Lines(lines) {
		if !json.Valid([]byte(line)) {
			t.Fatalf("no JSON: %s", line)
		}
	}
	columns := o.want(0, []string{parquet.Schema}, "export", "kernels", "--format", "parquet")
	if rows, err := parquetgo.Read[parquet.Row](strings.NewReader(columns), int64(len(columns))); err != nil || len(rows) != strings.Count(lines, `"kind":"point"`) {
		t.Errorf("%d rows: %v", len(rows), err)
	}
	o.want(4, []string{`unknown export format "csv"`}, "export", "kernels", "--format", "csv")
	o.want(4, []string{"--yes kernels"}, "project", "delete", "kernels")
	o.want(0, []string{"deleted kernels", "report"}, "project", "delete", "kernels", "--yes", "kernels")
	if out := o.want(0, nil, "project", "list"); out != "" {
		t.Errorf("there is still %s", out)
	}
	o.want(0, []string{"no problems found"}, "fsck")
}

// fsck reports damage and how to fix it.
func TestFsckFinds(t *testing.T) {
	o := newOperated(t)
	o.want(0, nil, "project", "create", "kernels")
	p := o.fill("kernels", 20)
	// A file that no report refers to, with content that does not match its name.
	digest := strings.Repeat("ab", 32)
	place := filepath.Join(o.blob, fmt.Sprint(p.ID), "ab", digest)
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, place, "something else")
	o.want(1, []string{digest, "does not match its digest"}, "fsck", "--deep")

	conn, err := pgx.Connect(t.Context(), o.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, sql := range []string{
		`alter table pawl.audit disable row level security`,
		`update pawl.audit set actor = 'nobody' where n = 1`,
		`alter table pawl.audit enable row level security`,
	} {
		if _, err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	o.want(1, []string{"audit", "The log was changed outside pawld"}, "fsck", "--project", "kernels")
	var problems []fsck.Problem
	decode(t, o.want(1, nil, "fsck", "--json"), &problems)
	if len(problems) == 0 {
		t.Error("no problem in the JSON")
	}
}

// Events that do not match the points are found only with --deep.
func TestFsckDeepFindsEvents(t *testing.T) {
	o := newOperated(t)
	o.want(0, nil, "project", "create", "kernels")
	o.fill("kernels", 120)
	conn, err := pgx.Connect(t.Context(), o.url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	tag, err := conn.Exec(t.Context(), `update pawl.event set before = before * 2`)
	if err != nil {
		t.Fatal(err)
	}
	if tag.RowsAffected() == 0 {
		t.Fatal("there are no events to change")
	}
	o.want(0, []string{"no problems found"}, "fsck")
	o.want(1, []string{"do not match its points"}, "fsck", "--deep")
}

func decode(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
}

func empty(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pawld.yaml")
	write(t, path, "ci: {issuers: []}\n")
	return path
}
