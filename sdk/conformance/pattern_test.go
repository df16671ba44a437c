package conformance

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestDifference(t *testing.T) {
	for _, test := range []struct{ pattern, got, want string }{
		{`{"a":1}`, `{"a":1}`, ``},
		{`{"a":1}`, `{"a":1,"b":2}`, ``},
		{`{"a":1}`, `{"b":1}`, `.a: is missing`},
		{`{"a":1}`, `{"a":2}`, `.a: expected 1, got 2`},
		{`{"a":1}`, `[]`, `: expected an object, got []`},
		{`{"a":null}`, `{"a":null}`, ``},
		{`{"a":null}`, `{"a":0}`, `.a: expected null, got 0`},
		{`{"a":{"b":"x"}}`, `{"a":{"b":"y"}}`, `.a.b: expected "x", got "y"`},
		{`{"a":[1,2]}`, `{"a":[1,2]}`, ``},
		{`{"a":[1,2]}`, `{"a":[1,2,3]}`, `.a: expected a list of 2, got [1,2,3]`},
		{`{"a":[1,2]}`, `{"a":[1,3]}`, `.a[1]: expected 2, got 3`},
		{`{"a":"<any>"}`, `{"a":[{}]}`, ``},
		{`{"a":"<any>"}`, `{}`, `.a: is missing`},
		{`{"a":"<absent>"}`, `{}`, ``},
		{`{"a":"<absent>"}`, `{"a":null}`, `.a: must be absent, got null`},
		{`{"a":"<bool>"}`, `{"a":false}`, ``},
		{`{"a":"<bool>"}`, `{"a":0}`, `.a: expected <bool>, got 0`},
		{`{"a":"<string>"}`, `{"a":""}`, ``},
		{`{"a":"<string>"}`, `{"a":1}`, `.a: expected <string>, got 1`},
		{`{"a":"<string out of memory>"}`, `{"a":"CUDA: out of memory."}`, ``},
		{`{"a":"<string memory>"}`, `{"a":"none"}`, `.a: expected <string memory>, got "none"`},
		{`{"a":"<list>"}`, `{"a":[]}`, ``},
		{`{"a":"<list x y>"}`, `{"a":["y","z","x"]}`, ``},
		{`{"a":"<list x y>"}`, `{"a":["y"]}`, `.a: expected <list x y>, got ["y"]`},
		{`{"a":"<number>"}`, `{"a":-1.5}`, ``},
		{`{"a":"<number>"}`, `{"a":"1"}`, `.a: expected <number>, got "1"`},
		{`{"a":"<number 1..2>"}`, `{"a":2}`, ``},
		{`{"a":"<number 1..2>"}`, `{"a":2.1}`, `.a: expected <number 1..2>, got 2.1`},
		{`{"a":"<number ..2>"}`, `{"a":-7}`, ``},
		{`{"a":"<integer 3..>"}`, `{"a":3}`, ``},
		{`{"a":"<integer 3..>"}`, `{"a":3.5}`, `.a: expected <integer 3..>, got 3.5`},
		{`{"a":"<integer 3>"}`, `{"a":4}`, `.a: expected <integer 3>, got 4`},
		{`{"a":"<numbers>"}`, `{"a":[]}`, ``},
		{`{"a":"<numbers 2>"}`, `{"a":[1,2]}`, ``},
		{`{"a":"<numbers 2>"}`, `{"a":[1]}`, `.a: expected <numbers 2>, got [1]`},
		{`{"a":"<numbers 2..>"}`, `{"a":[1,2,3]}`, ``},
		{`{"a":"<numbers 2 of 5..>"}`, `{"a":[5,6]}`, ``},
		{`{"a":"<numbers 2 of 5..>"}`, `{"a":[5,4]}`, `.a[1]: expected a number 5.., got 4`},
		{`{"a":"<numbers 1>"}`, `{"a":["1"]}`, `.a[0]: expected a number, got "1"`},
	} {
		var pattern, got any
		if err := json.Unmarshal([]byte(test.pattern), &pattern); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(test.got), &got); err != nil {
			t.Fatal(err)
		}
		if err := checkPattern(pattern); err != nil {
			t.Errorf("%s: %v", test.pattern, err)
		}
		if d := difference(pattern, got, ""); d != test.want {
			t.Errorf("%s with %s: got %q, want %q", test.pattern, test.got, d, test.want)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                               "empty",
		"# only a comment\n":             "empty",
		"\n? {}":                         "bad.txt:2:",
		"< {":                            "not JSON",
		"< 5":                            "not a JSON object",
		`< {"a":"<nummer>"}`:             "not a rule",
		`< {"a":[{"b":"<number 1-2>"}]}`: "not a number or a range",
		`< {"a":"<numbers 2 of x..>"}`:   "not a number or a range",
		"took long":                      "not a duration",
		"took -1s":                       "not a duration",
		"exit":                           "not an exit status",
		"exit 256":                       "not an exit status",
	} {
		if _, err := Parse("bad.txt", strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want an error with %q", text, err, want)
		}
	}
}

func TestTranscriptsAreNamedAndExplained(t *testing.T) {
	all, err := Transcripts()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 20 {
		t.Errorf("%d transcripts are embedded: files are missing", len(all))
	}
	for _, transcript := range all {
		text, err := transcripts.ReadFile("transcripts/" + transcript.Name + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(text), "# ") {
			t.Errorf("%s: the first line must say what the transcript is about", transcript.Name)
		}
	}
}

func FuzzParse(f *testing.F) {
	all, err := transcripts.ReadDir("transcripts")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range all {
		text, err := transcripts.ReadFile("transcripts/" + file.Name())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), `{"id":1}`)
	}
	f.Fuzz(func(t *testing.T, text, reply string) {
		transcript, err := Parse("fuzz.txt", strings.NewReader(text))
		if err != nil {
			return
		}
		var got any
		if json.Unmarshal([]byte(reply), &got) != nil {
			return
		}
		for _, step := range transcript.Steps {
			if step.Want != nil {
				difference(step.Want, got, "")
			}
		}
	})
}
