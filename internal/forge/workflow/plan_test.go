package workflow

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestUpgradeKeepsWhatSomebodyEdited(t *testing.T) {
	old := rendered(t, sample())
	newer := sample()
	newer.Action, newer.ActionTag, newer.Install = "goatnote-inc/pawl@"+strings.Repeat("ab", 20), "v0.2.0", "0.2.0"
	fresh, err := Render(newer, "0.2.0")
	if err != nil {
		t.Fatal(err)
	}
	there := map[string][]byte{}
	for _, f := range old[:4] {
		there[f.Path] = f.Text
	}
	edited, own, crlf := old[0].Path, old[1].Path, old[2].Path
	there[edited] = bytes.Replace(there[edited], []byte("timeout-minutes: 5"), []byte("timeout-minutes: 9"), 1)
	there[own] = []byte("on: push\n")
	there[crlf] = bytes.ReplaceAll(there[crlf], []byte("\n"), []byte("\r\n"))
	read := func(path string) []byte { return there[path] }
	deeds := func(files []File, force bool) map[string]Action {
		list := map[string]Action{}
		for _, c := range Plan(files, read, force) {
			list[c.Path] = c.Deed
			if (c.Deed == Keep) != (c.Why != "") {
				t.Errorf("%s is %s, because %q", c.Path, c.Deed, c.Why)
			}
		}
		return list
	}
	want := map[string]Action{edited: Keep, own: Keep, crlf: Replace, old[3].Path: Replace, old[4].Path: Create}
	if diff := cmp.Diff(want, deeds(fresh, false)); diff != "" {
		t.Errorf("upgrade (-want +got):\n%s", diff)
	}
	want[edited], want[own] = Replace, Replace
	if diff := cmp.Diff(want, deeds(fresh, true)); diff != "" {
		t.Errorf("upgrade --force (-want +got):\n%s", diff)
	}
	// A release that would write the same touches nothing.
	again, err := Render(sample(), "0.1.1")
	if err != nil {
		t.Fatal(err)
	}
	if got := deeds(again, false); got[old[3].Path] != Same {
		t.Errorf("the same text of another release: %s", got[old[3].Path])
	}
}

func TestStampTellsWhatWasAskedFor(t *testing.T) {
	s := sample()
	s.Runner = []string{"self-hosted", "l4"}
	file := rendered(t, s)[0]
	st, ok := ReadStamp(file.Text)
	if diff := cmp.Diff(Stamp{Version: "0.1.0", Settings: s}, st); !ok || diff != "" {
		t.Error(diff)
	}
	changed, ok := ReadStamp(append(bytes.Clone(file.Text), "# more\n"...))
	if !ok || !changed.Edited || changed.Settings.Runner[1] != "l4" {
		t.Errorf("an edited file: %+v", changed)
	}
	// Settings that somebody wrote in are held against the same rules.
	bad, ok := ReadStamp(bytes.Replace(file.Text, []byte(`"branch":"main"`), []byte(`"branch":"a]\non: x"`), 1))
	if !ok || !bad.Edited || bad.Settings.Branch != "" {
		t.Errorf("settings that cannot be: %+v", bad)
	}
	for _, text := range []string{"", "on: push\n", "# Written by pawl\n", "# Written by pawl 1; x"} {
		if st, ok := ReadStamp([]byte(text)); ok {
			t.Errorf("%q is stamped: %+v", text, st)
		}
	}
}

func TestMergeOfSettings(t *testing.T) {
	fresh := sample()
	fresh.Install, fresh.Action, fresh.Branch = "0.2.0", "goatnote-inc/pawl@v0.2.0", "trunk"
	then := sample()
	then.Runner, then.Shared = []string{"l4"}, "org/ci@"+commit
	got := Merge(Settings{Runner: []string{"h100"}}, then, fresh)
	if got.Runner[0] != "h100" || got.Branch != "main" || got.Shared != then.Shared || got.Action != fresh.Action || got.Install != "0.2.0" {
		t.Errorf("upgrade to %+v", got)
	}
	then.Install = "installed"
	if got := Merge(Settings{}, then, fresh); got.Install != "installed" || got.Runner[0] != "l4" {
		t.Errorf("what the image brings is installed anew: %+v", got)
	}
}

func TestKeysAreAddedToASuite(t *testing.T) {
	today := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	const gate = "\n# Only reports; fails no change yet. After two weeks the report proposes to enforce.\ngate:\n  mode: advise\n  since: 2026-11-15\n"
	const baseline = "\n# The best confirmed commit of every case, on a branch of its own.\nbaseline:\n  keep: branch\n  remote: origin\n"
	for _, c := range []struct{ name, branch, suite, want, err string }{
		{"neither", "main", "version: 1 # first\n", "version: 1 # first\n" + baseline + gate, ""},
		{"no end of line", "trunk", "version: 1", "version: 1\n" + baseline + "  main: trunk\n" + gate, ""},
		{"a baseline", "main", "baseline: {keep: file}\n# mine\n", "baseline: {keep: file}\n# mine\n" + gate, ""},
		{"both", "main", "gate: {}\nbaseline: {}\n\n\n", "gate: {}\nbaseline: {}\n\n\n", ""},
		{"a gate of a benchmark only", "main", "x:\n  gate: 1\nbaseline: 1\n", "x:\n  gate: 1\nbaseline: 1\n" + gate, ""},
		{"in braces", "main", "{version: 1}\n", "", "mapping with one key per line"},
		{"an end", "main", "version: 1\n...\n", "", "document marker"},
		{"no YAML", "main", "version: [\n", "", "not valid YAML"},
		{"shared", "main", "extends: ../common.yaml\n", "", "extends another file"},
		{"shared, and all said", "main", "extends: a\ngate: 1\nbaseline: 1\n", "extends: a\ngate: 1\nbaseline: 1\n", ""},
		{"indented", "main", "  version: 1\n", "", "indented or incomplete, so nothing can be appended"},
		{"nothing", "main", "", "", "mapping with one key per line"},
	} {
		got, added, err := AddKeys([]byte(c.suite), c.branch, today)
		switch {
		case c.err != "":
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%s: %v, want %q", c.name, err, c.err)
			}
		case err != nil:
			t.Errorf("%s: %v", c.name, err)
		case string(got) != c.want || (len(added) == 0) != (c.suite == c.want):
			t.Errorf("%s: added %v\n%s", c.name, added, cmp.Diff(c.want, string(got)))
		}
	}
}

func TestPullRequestSectionIsAddedOnce(t *testing.T) {
	first := PullRequest([]byte("# What\n\n"))
	if !bytes.HasPrefix(first, []byte("# What\n\n<!-- pawl:")) {
		t.Errorf("added to a template:\n%s", first)
	}
	for _, word := range []string{"Target shapes", "Hypothesis", "Evidence", "Result"} {
		if !bytes.Contains(PullRequest(nil), []byte("**"+word+"**")) {
			t.Errorf("no %s", word)
		}
	}
	if again := PullRequest(first); again != nil {
		t.Errorf("added twice:\n%s", again)
	}
}

func FuzzAddKeys(f *testing.F) {
	f.Add([]byte("version: 1\n"))
	f.Add([]byte("gate: {}\n# end"))
	f.Add([]byte("a: |\n  b\n\n"))
	f.Fuzz(func(t *testing.T, suite []byte) {
		text, added, err := AddKeys(suite, "main", time.Unix(0, 0))
		if err != nil || len(added) == 0 {
			return
		}
		if !bytes.HasPrefix(text, bytes.TrimRight(suite, "\r\n")) {
			t.Errorf("what was there is not there any more:\n%q\n%q", suite, text)
		}
		if _, more, err := AddKeys(text, "main", time.Unix(0, 0)); err == nil && more != nil {
			t.Errorf("%v added twice to %q", more, suite)
		}
	})
}
