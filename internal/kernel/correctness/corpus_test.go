package correctness

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func failure(seed uint64) Failure {
	return Failure{
		Point: point(Normal, seed, "B", 1.0, "S", 65.0, "dtype", "f16"), Benchmark: "attention", Rule: RuleClose,
		Message: "out: off", Found: time.Date(2026, 11, 15, 7, 0, int(seed), 0, time.UTC), Pawl: "v1.2.3",
	}
}

func TestCorpusKeepsFailures(t *testing.T) {
	c := Corpus{filepath.Join(t.TempDir(), ".pawl", "corpus")}
	if list, problems := c.Load("attention"); list != nil || problems != nil {
		t.Errorf("without a corpus: %v, %v", list, problems)
	}
	want := []Failure{failure(1), failure(2)}
	for _, f := range []Failure{want[1], want[0], want[1]} {
		path, err := c.Add(f)
		if err != nil || filepath.Dir(path) != filepath.Join(c.Dir, "attention") {
			t.Fatal(path, err)
		}
	}
	other := want[0]
	other.Message = "found again by somebody else"
	if _, err := c.Add(other); err != nil {
		t.Fatal(err)
	}
	got, problems := c.Load("attention")
	if diff := cmp.Diff(want, got); diff != "" || problems != nil {
		t.Errorf("%v (-want +got):\n%s", problems, diff)
	}
	text, err := os.ReadFile(filepath.Join(c.Dir, "attention", want[0].name()))
	if err != nil {
		t.Fatal(err)
	}
	const shown = `{
  "params": {
    "B": 1,
    "S": 65,
    "dtype": "f16"
  },
  "inputs": "normal",
  "seed": "1",
  "benchmark": "attention",
  "rule": "close",
  "message": "out: off",
  "found": "2026-11-15T07:00:01Z",
  "pawl": "v1.2.3"
}
`
	if diff := cmp.Diff(shown, string(text)); diff != "" {
		t.Errorf("file (-want +got):\n%s", diff)
	}
}

func TestCorpusIsBounded(t *testing.T) {
	c := Corpus{t.TempDir()}
	for i := range maxFailures {
		if _, err := c.Add(failure(uint64(i))); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Add(failure(maxFailures)); err == nil || !strings.Contains(err.Error(), "delete those that are fixed") {
		t.Errorf("one more: %v", err)
	}
	if err := os.WriteFile(filepath.Join(c.Dir, "attention", "zzz.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	list, problems := c.Load("attention")
	if len(list) != maxFailures || len(problems) != 1 {
		t.Errorf("%d failures, %v", len(list), problems)
	}
}

func TestCorpusStandsHostileContents(t *testing.T) {
	dir := t.TempDir()
	c := Corpus{filepath.Join(dir, "corpus")}
	if _, err := c.Add(failure(1)); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(c.Dir, "attention")
	for name, text := range map[string]string{
		"a.json": "{", "b.json": strings.Repeat("[", 100_000), "c.json": `{"inputs":"weird"}`,
		"d.json": `{"benchmark":"other","inputs":"normal","seed":"1","params":{}}`,
		"e.json": `{"benchmark":"attention","inputs":"normal","seed":"1","params":{"S":1e300}}`,
		"f.json": `{"benchmark":"attention","inputs":"normal","seed":"1","params":{"S":{"x":1}}}`,
		"g.json": `{"benchmark":"attention","inputs":"normal","seed":"-1","params":{}}`,
		"h.txt":  "not ours",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	secret := filepath.Join(dir, "secret.json")
	text, err := json.Marshal(failure(2))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(secret, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(folder, "link.json")); err != nil {
		t.Fatal(err)
	}
	list, problems := c.Load("attention")
	if diff := cmp.Diff([]Failure{failure(1)}, list); diff != "" {
		t.Error(diff)
	}
	if len(problems) != 7 {
		t.Errorf("%d problems: %v", len(problems), problems)
	}
	for _, name := range []string{"", ".", "..", "../x", "a/b", "/etc", `a\b`} {
		f := failure(1)
		f.Benchmark = name
		if _, err := c.Add(f); err == nil {
			t.Errorf("benchmark %q was written", name)
		}
		if list, _ := c.Load(name); list != nil {
			t.Errorf("benchmark %q was read: %v", name, list)
		}
	}
	// A folder that is a link out of the corpus is not followed.
	outside := filepath.Join(dir, "outside")
	if err := os.Mkdir(outside, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(c.Dir, "linked")); err != nil {
		t.Fatal(err)
	}
	f := failure(3)
	f.Benchmark = "linked"
	if _, err := c.Add(f); err == nil {
		t.Error("a failure was written outside the corpus")
	}
}

func TestMessagesAreSafeToPrint(t *testing.T) {
	if got := clean("a\x1b[31mred\nline\u202e" + strings.Repeat("x", 600)); strings.ContainsAny(got, "\x1b\n\u202e") || len(got) > 510 {
		t.Errorf("%q", got)
	}
}

func FuzzParseFailure(f *testing.F) {
	for i := range 3 {
		text, err := json.Marshal(failure(uint64(i)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"inputs":"zeros","params":{"a":true}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := parseFailure(text)
		if err != nil {
			return
		}
		again, err := json.Marshal(got)
		if err != nil {
			t.Fatalf("cannot write what was read: %v", err)
		}
		if _, err := parseFailure(again); err != nil && len(again) <= maxFileBytes {
			t.Fatalf("cannot read what was written: %v in %s", err, again)
		}
		_ = fmt.Sprint(got.Point)
	})
}
