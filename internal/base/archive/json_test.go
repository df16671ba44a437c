package archive_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/archive"
)

var small = archive.JSONLimits{Bytes: 1000, Depth: 5, Lists: 10, Strings: 10, Letters: 200, Longest: 100, Numbers: 20}

func TestCheckJSON(t *testing.T) {
	good := []string{`{}`, ` {"a": [1, 2.5e3, null, true], "b": "x\"y\\"} `, `[[[[[]]]]]`, `"` + strings.Repeat("a", 90) + `"`, "[" + strings.Repeat("1,", 19) + "1]"}
	for _, text := range good {
		if err := archive.CheckJSON(strings.NewReader(text), small); err != nil {
			t.Errorf("%.60s: %v", text, err)
		}
	}
	bad := map[string]string{
		"":                                      "not JSON",
		"{":                                     "not JSON",
		`{"a": NaN}`:                            "not JSON",
		`{"a": 1e999999, }`:                     "not JSON",
		`{"a": 1, "a": 2}`:                      "duplicate",
		`{} {}`:                                 "more after its end",
		"{\"a\": \"\xff\"}":                     "not JSON",
		strings.Repeat("[", 6) + "]":            "deeper",
		strings.Repeat("[", 100000):             "deeper",
		"[" + strings.Repeat("[],", 11) + "[]]": "too many objects",
		"[" + strings.Repeat(`"",`, 11) + `""]`: "too many strings",
		"[" + strings.Repeat("1,", 21) + "1]":   "too many numbers",
		`"` + strings.Repeat("a", 101) + `"`:    "one of its tokens",
		`["` + strings.Repeat("a", 1000000):     "one of its tokens",
		strings.Repeat("1", 101):                "one of its tokens",
		strings.Repeat(" ", 101):                "one of its tokens",
		`"` + strings.Repeat(`\"`, 60) + `"`:    "one of its tokens",
		"[" + strings.Repeat(`"`+strings.Repeat("a", 90)+`",`, 3) + "1]": "too much text",
		"[" + strings.Repeat("1 , ", 300) + "1]":                         "too many numbers",
	}
	for text, want := range bad {
		err := archive.CheckJSON(strings.NewReader(text), small)
		if !errors.Is(err, archive.ErrRejected) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q (%d bytes): error %v, want %q", text, len(text), err, want)
		}
	}
	if err := archive.CheckJSON(strings.NewReader("["+strings.Repeat("true,", 300)+"true]"), small); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("1500 bytes: error %v", err)
	}
}

// What is let through is what the standard library reads too, and small.
func FuzzCheckJSON(f *testing.F) {
	for _, seed := range []string{`{}`, `{"a":[1,2,{"b":"\u0000"}]}`, `[1e9,-0.5]`, `{"a":1,"a":2}`, `"\ud800"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if archive.CheckJSON(strings.NewReader(text), small) != nil {
			return
		}
		if !json.Valid([]byte(text)) || len(text) > 1000 {
			t.Errorf("let through: %q", text)
		}
	})
}
