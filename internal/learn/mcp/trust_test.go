package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// injections are strings that want to be obeyed.
func injections(t testing.TB) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/injections.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for line := range bytes.Lines(text) {
		var s string
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	if len(list) < 200 {
		t.Fatalf("%d injections, want 200", len(list))
	}
	return list
}

// documents are shaped like what commands answer; %s is where somebody's text may be.
var documents = []string{
	`{"builds":[{"side":"candidate","what":%s,"cached":false,"seconds":1.5,"outputs":[{"path":%s,"digest":"sha256:00ff00ff"}],"log":%s}],"error":%s}`,
	`{"bottleneck":"memory","kernel":%s,"sentence":%s,"findings":[{"rule":%s,"class":"memory","title":%s,"fixes":[{"do":%s,"gain":0.3}]}],"lines":[%s,"x"]}`,
	`{"lessons":[{"name":%s,"title":%s,"state":"proposed","weight":0.4,"symptom":%s,"tests":[[%s]],"scope":{"gpu":%s}}]}`,
	`{"verdict":%s,"cases":[{"name":%s,"case":%s,"benchmark":%s,"verdict":"improvement","gate":%s,"status":%s,"state":%s,"answer":%s,"id":%s,"why":%s}]}`,
	`{"session":{"goal":%s,"suite":%s,"device":%s},"gates":[{"gate":{"id":%s,"title":%s,"why":%s},"sentence":%s,"command":%s}],"next_tool":%s,"tool":%s,"unit":%s,"kind":%s,"phase":%s}`,
}

func TestMarkKeepsInjectionsInMarkedFields(t *testing.T) {
	for _, s := range injections(t) {
		quoted, _ := json.Marshal(s)
		for i, form := range documents {
			doc := strings.ReplaceAll(form, "%s", string(quoted))
			checkMarked(t, fmt.Sprintf("document %d with %q", i, s), doc, s)
		}
		// Names of fields can be somebody's too.
		checkMarked(t, fmt.Sprintf("key %q", s), fmt.Sprintf(`{"point":{%s:8,"BLOCK_M":4},"facts":{"a":{%s:"x"}}}`, quoted, quoted), s)
	}
}

func checkMarked(t *testing.T, what, doc, injection string) {
	t.Helper()
	a := told(Tool{}, outcome{stdout: []byte(doc), said: injection})
	res, err := a.result()
	if err != nil {
		t.Fatal(what, err)
	}
	var whole any
	if err := json.Unmarshal(res.StructuredContent.(json.RawMessage), &whole); err != nil {
		t.Fatal(what, err)
	}
	marked := 0
	leaves(whole, false, func(s string, under bool) {
		if under {
			marked++
			if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' && r != '\n' && r != '\t' || r == 0x1b || r >= 0xe0000 }) {
				t.Errorf("%s: control characters are left in %q", what, s)
			}
			return
		}
		if tells(s, injection) {
			t.Errorf("%s: %q is outside of the marked fields", what, s)
		}
	})
	if marked == 0 {
		t.Errorf("%s: nothing is marked", what)
	}
	text, _ := json.Marshal(res.Content[0])
	var content struct{ Text string }
	_ = json.Unmarshal(text, &content)
	var own any
	if err := json.Unmarshal([]byte(content.Text), &own); err != nil {
		t.Fatal(what, err)
	}
	leaves(own, false, func(s string, _ bool) {
		if tells(s, injection) {
			t.Errorf("%s: %q is in the text", what, s)
		}
	})
}

// tells is true for a string that carries the injection: all of it, or what is left of it
// when it was made harmless.
func tells(s, injection string) bool {
	return s != "" && (s == injection || s == Harmless(injection) || len(injection) > 6 && strings.Contains(s, Harmless(injection)))
}

// leaves goes through all strings, names of fields too, and says which are under a mark.
func leaves(v any, under bool, visit func(s string, under bool)) {
	switch v := v.(type) {
	case string:
		visit(v, under)
	case []any:
		for _, item := range v {
			leaves(item, under, visit)
		}
	case map[string]any:
		for key, item := range v {
			visit(strings.TrimPrefix(key, untrusted), under)
			leaves(item, under || strings.HasPrefix(key, untrusted), visit)
		}
	}
}

func TestMarkKeepsWhatIsOwn(t *testing.T) {
	for doc, want := range map[string]string{
		`{"verdict":"improvement","p50":1.5}`:            `{"p50":1.5,"verdict":"improvement"}`,
		`{"verdict":"improvement!"}`:                     `{"untrusted_verdict":"improvement!"}`,
		`{"name":"matmul/N256"}`:                         `{"name":"matmul/N256"}`,
		`{"case":"attention/B32_H8_S512_D64/candidate"}`: `{"case":"attention/B32_H8_S512_D64/candidate"}`,
		`{"case":"a/B1_please"}`:                         `{"untrusted_case":"a/B1_please"}`,
		`{"kernel":"matmul"}`:                            `{"untrusted_kernel":"matmul"}`,
		`{"digest":"sha256:00ff00ff","at":"2026-11-15T20:32:15.660443802Z","seed":"18184106469552793507"}`: `{"at":"2026-11-15T20:32:15.660443802Z","digest":"sha256:00ff00ff","seed":"18184106469552793507"}`,
		`{"warnings":["a b","c"]}`:       `{"untrusted_warnings":["a b","c"]}`,
		`{"sides":["candidate","base"]}`: `{"sides":["candidate","base"]}`,
		`{"point":{"BLOCK_M":8}}`:        `{"point":{"BLOCK_M":8}}`,
		`{"untrusted_x":1}`:              `{"entries":[{"untrusted_name":"untrusted_x","value":1}]}`,
		`["a"]`:                          `{"untrusted_value":["a"]}`,
		`"a b"`:                          `{"untrusted_value":"a b"}`,
		`{"samples":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25]}`: `{"samples":{"count":25,"max":25,"median":13,"min":1}}`,
	} {
		got, err := json.Marshal(document([]byte(doc)))
		if err != nil || string(got) != want {
			t.Errorf("%s\n became %s\n    not %s (%v)", doc, got, want, err)
		}
	}
}

// Whatever a command answers, a string with a space in it is never outside of a mark, and
// marking twice changes nothing but where marks stand.
func TestMarkProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		doc := anyDocument(4).Draw(t, "doc")
		leaves(Mark(doc), false, func(s string, under bool) {
			if !under && strings.ContainsAny(s, " \x1b<\n") {
				t.Fatalf("%q is not marked", s)
			}
		})
	})
}

func anyDocument(depth int) *rapid.Generator[any] {
	leaf := rapid.OneOf(rapid.Just(any(nil)), rapid.Map(rapid.Bool(), func(b bool) any { return b }), rapid.Map(rapid.String(), func(s string) any { return s }), rapid.Just(any(json.Number("3"))))
	if depth == 0 {
		return leaf
	}
	key := rapid.OneOf(rapid.SampledFrom([]string{"name", "verdict", "case", "why", "title", "kind", "untrusted_x"}), rapid.String())
	return rapid.OneOf(leaf,
		rapid.Map(rapid.SliceOfN(rapid.Deferred(func() *rapid.Generator[any] { return anyDocument(depth - 1) }), 0, 4), func(l []any) any { return l }),
		rapid.Map(rapid.MapOfN(key, rapid.Deferred(func() *rapid.Generator[any] { return anyDocument(depth - 1) }), 0, 4), func(m map[string]any) any { return m }))
}

var jsonTag = regexp.MustCompile("json:\"([a-z0-9_]+)")

// A name of a field with three words or more would be taken for somebody's, unless it is
// listed.
func TestLongKeys(t *testing.T) {
	missing := map[string]string{}
	for _, dir := range []string{"..", "../../judge/runner", "../../doctor", "../../judge/preflight", "../../explain/diagnose", "../../tune", "../../kernel/correctness", "../../cli", "../../../ratchet", "../../../measure"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if path == "../mcp" {
				return fs.SkipDir // its own keys are not those of the documents that it marks
			}
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			f, err := os.Open(path)
			if err != nil {
				return err
			}
			defer f.Close()
			for lines := bufio.NewScanner(f); lines.Scan(); {
				for _, tag := range jsonTag.FindAllStringSubmatch(lines.Text(), -1) {
					if !ownKey(tag[1]) {
						missing[tag[1]] = path
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for key, path := range missing {
		t.Errorf("%s has a field %q: add it to longKeys in words.go", path, key)
	}
}

func FuzzMark(f *testing.F) {
	for _, d := range documents {
		f.Add([]byte(strings.ReplaceAll(d, "%s", `"x y"`)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		a := told(Tool{}, outcome{stdout: text})
		if _, err := a.result(); err != nil {
			t.Fatal(err)
		}
	})
}
