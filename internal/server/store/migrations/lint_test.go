package migrations

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// firstChecked is the first step to which the rules apply. Databases have the earlier ones already, and an
// applied step never changes.
const firstChecked = "0009"

// destructive lists what a binary of the version before may not survive, and what blocks its writers.
var destructive = []struct {
	pattern *lazyregexp.Regexp
	why     string
}{
	{lazyregexp.New(`\bdrop\s+(table|column|function|schema|type|view|policy|index)\b`), "drops what the version before may use"},
	{lazyregexp.New(`\brename\b`), "renames what the version before may use"},
	{lazyregexp.New(`\btruncate\b`), "removes rows"},
	{lazyregexp.New(`\brevoke\b`), "takes a right that the version before may use"},
	{lazyregexp.New(`\balter\s+column\s+\S+\s+(set\s+data\s+)?type\b`), "changes a type, and rewrites the table"},
	{lazyregexp.New(`\bset\s+not\s+null\b`), "refuses rows that the version before may write"},
	{lazyregexp.New(`\bdrop\s+default\b`), "refuses rows that the version before may write"},
}

var (
	addColumn     = lazyregexp.New(`\badd\s+column\b[^,;]*`)
	addConstraint = lazyregexp.New(`\badd\s+(constraint|check|foreign|unique|primary)\b[^,;]*`)
	createIndex   = lazyregexp.New(`^create\s+(?:unique\s+)?index\s+(.*?)\bon\s+(?:only\s+)?(?:pawl\.)?(\w+)`)
	createTable   = lazyregexp.New(`\bcreate\s+table\s+(?:if\s+not\s+exists\s+)?(?:pawl\.)?(\w+)`)
	alterTable    = lazyregexp.New(`\balter\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?(?:pawl\.)?(\w+)`)
	dropped       = lazyregexp.New(`\b(?:drop\s+(?:table|column|function|schema|type|view|policy|index)|rename\s+column|rename)\s+(?:concurrently\s+)?(?:if\s+exists\s+)?(?:pawl\.)?(\w+)`)
	isVersion     = lazyregexp.New(`^[0-9]{4}$`)
)

// lint returns what is wrong with the last of these steps.
func lint(all []step) error {
	s := all[len(all)-1]
	if version(s.name) < firstChecked {
		return nil
	}
	var wrong []error
	tell := func(format string, args ...any) { wrong = append(wrong, fmt.Errorf(s.name+": "+format, args...)) }
	before := all[:len(all)-1]
	if last := before[len(before)-1]; !isVersion.MatchString(version(s.name)) || version(s.name) <= version(last.name) {
		tell("its number does not follow %s", last.name)
	}
	switch {
	case !isVersion.MatchString(s.oldest):
		tell("it must name the oldest binary that can run beside it: a line such as -- oldest: %s", version(before[len(before)-1].name))
	case s.oldest >= version(s.name):
		tell("oldest is %s: the version before must be able to run beside it", s.oldest)
	}
	for _, sql := range statements(strings.ToLower(s.text)) {
		if s.concurrent != strings.Contains(sql, " concurrently") {
			tell("%.60q: an index is built concurrently in a step of its own, marked -- concurrent", sql)
		}
		if s.concurrent && !strings.Contains(sql, " if not exists ") && !strings.Contains(sql, " if exists ") {
			tell("%.60q: it may run twice, so it needs if not exists", sql)
		}
		if why := breaks(sql, s.text); why != "" && s.contracts == "" {
			tell("%.60q %s: do it one version later, in a step marked -- contracts: WHY", sql, why)
		}
		for _, m := range dropped.FindAllStringSubmatch(sql, -1) {
			if used := lastUse(before, m[1]); s.contracts != "" && s.oldest <= used {
				tell("it takes %s away, which binary %s uses: oldest must be newer", m[1], used)
			}
		}
	}
	return errors.Join(wrong...)
}

// breaks says why a statement breaks or blocks a binary of the version before; empty if it does not. Tables
// that the same step creates are its own.
func breaks(sql, text string) string {
	own := map[string]bool{}
	for _, m := range createTable.FindAllStringSubmatch(strings.ToLower(text), -1) {
		own[m[1]] = true
	}
	if m := createIndex.FindStringSubmatch(sql); m != nil && !own[m[2]] && !strings.Contains(m[1], "concurrently") {
		return "blocks the writers of the table until the index is built"
	}
	if m := alterTable.FindStringSubmatch(sql); m != nil && own[m[1]] {
		return ""
	}
	for _, d := range destructive {
		if d.pattern.MatchString(sql) {
			return d.why
		}
	}
	for _, c := range addColumn.FindAllString(sql, -1) {
		if strings.Contains(c, "not null") && !strings.Contains(c, "default") {
			return "adds a column that the version before does not fill"
		}
	}
	for _, c := range addConstraint.FindAllString(sql, -1) {
		if !strings.Contains(c, "not valid") {
			return "checks every row while writers wait"
		}
	}
	return ""
}

// lastUse returns the version of the last step that names an object; empty if none does.
func lastUse(steps []step, name string) string {
	last := ""
	for _, s := range steps {
		code := strings.ToLower(strings.Join(statements(s.text), ";"))
		words := strings.FieldsFunc(code, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if slices.Contains(words, name) {
			last = version(s.name)
		}
	}
	return last
}

// Every step can be applied while servers of the version before run.
func TestSteps_KeepTheVersionBeforeRunning(t *testing.T) {
	all, err := steps()
	if err != nil {
		t.Fatal(err)
	}
	for n := range all {
		if err := lint(all[:n+1]); err != nil {
			t.Error(err)
		}
	}
}

func TestLint(t *testing.T) {
	before := []step{
		newStep("0001_start.sql", "create table pawl.thing (id bigint, old text)"),
		newStep("0009_more.sql", "-- oldest: 0001\nalter table pawl.thing add column fresh text"),
	}
	for _, test := range []struct{ what, text, says string }{
		{"an expansion", "-- oldest: 0009\ncreate table pawl.other (id bigint not null); create index on pawl.other (id); alter table pawl.thing add column n int not null default 0", ""},
		{"a function with a semicolon inside", "-- oldest: 0009\ncreate function pawl.f() returns int language sql as $$ select 1; $$", ""},
		{"an index of its own", "-- oldest: 0009\n-- concurrent\ncreate index concurrently if not exists thing_id on pawl.thing (id)", ""},
		{"a contraction", "-- oldest: 0009\n-- contracts: nothing reads old\nalter table pawl.thing drop column old", ""},
		{"a constraint that is checked later", "-- oldest: 0009\nalter table pawl.thing add constraint c check (id > 0) not valid", ""},
		{"no oldest", "create table pawl.other (id bigint)", "must name the oldest binary"},
		{"an oldest that is itself", "-- oldest: 0010\ncreate table pawl.other (id bigint)", "the version before must be able"},
		{"a dropped column", "-- oldest: 0009\nalter table pawl.thing drop column old", "drops what the version before"},
		{"a dropped table", "-- oldest: 0009\nDROP TABLE pawl.thing", "drops what the version before"},
		{"a dropped column that is still used", "-- oldest: 0009\n-- contracts: it is gone\nalter table pawl.thing drop column fresh", "binary 0009 uses"},
		{"a renamed column", "-- oldest: 0009\nalter table pawl.thing rename column old to older", "renames"},
		{"another type", "-- oldest: 0009\nalter table pawl.thing alter column id type text", "changes a type"},
		{"not null without a default", "-- oldest: 0009\nalter table pawl.thing add column n int not null", "does not fill"},
		{"not null afterwards", "-- oldest: 0009\nalter table pawl.thing alter column old set not null", "refuses rows"},
		{"an index that blocks", "-- oldest: 0009\ncreate index on pawl.thing (id)", "blocks the writers"},
		{"a unique index that blocks", "-- oldest: 0009\ncreate unique index named on pawl.thing (id)", "blocks the writers"},
		{"a constraint that reads all rows", "-- oldest: 0009\nalter table pawl.thing add constraint c check (id > 0)", "checks every row"},
		{"an index in a transaction", "-- oldest: 0009\ncreate index concurrently if not exists a on pawl.thing (id)", "marked -- concurrent"},
		{"a table among indexes", "-- oldest: 0009\n-- concurrent\ncreate table if not exists pawl.other (id bigint)", "marked -- concurrent"},
		{"an index that cannot be built twice", "-- oldest: 0009\n-- concurrent\ncreate index concurrently a on pawl.thing (id)", "if not exists"},
		{"a right that is taken", "-- oldest: 0009\nrevoke select on pawl.thing from pawl_app", "takes a right"},
	} {
		err := lint(append(before[:2:2], newStep("0010_test.sql", test.text)))
		if test.says == "" && err != nil || test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%s: %v, want %q", test.what, err, test.says)
		}
	}
	if err := lint(append(before[:2:2], newStep("0009_other.sql", "-- oldest: 0001\ncreate table pawl.other (id bigint)"))); err == nil {
		t.Error("two steps have one number, and that is accepted")
	}
}

func TestStatements(t *testing.T) {
	got := statements("a; -- b;\nc $$ d; e $$ f;\n\n$$g$$;")
	want := []string{"a", "c $$ d; e $$ f", "$$g$$"}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		t.Errorf("%q, want %q", got, want)
	}
}

// A binary runs on a newer schema if every step that it does not know allows its version.
func TestCheckHistory(t *testing.T) {
	own := []step{newStep("0008_a.sql", "a"), newStep("0009_b.sql", "-- oldest: 0008\nb")}
	has := func(more ...string) map[string]record {
		done := map[string]record{"0008_a.sql": {own[0].digest, ""}, "0009_b.sql": {own[1].digest, "0008"}}
		for _, m := range more {
			name, oldest, _ := strings.Cut(m, " ")
			done[name] = record{"digest", oldest}
		}
		return done
	}
	for _, test := range []struct {
		what  string
		done  map[string]record
		newer bool
		says  string
	}{
		{"its own schema", has(), false, ""},
		{"a newer one that allows it", has("0010_c.sql 0009", "0011_d.sql 0008"), false, ""},
		{"a newer one that needs the version after", has("0010_c.sql 0009", "0011_d.sql 0010"), true, "needs version 0010"},
		{"a newer one that names none", has("0010_c.sql"), true, "needs version 0010"},
		{"another history", has("0009_x.sql 0008"), false, "another history"},
	} {
		err := checkHistory(test.done, own)
		if (err == nil) != (test.says == "") || err != nil && !strings.Contains(err.Error(), test.says) || errors.Is(err, ErrNewer) != test.newer {
			t.Errorf("%s: %v, want %q", test.what, err, test.says)
		}
	}
}
