package mcp

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goatnote-inc/pawl/internal/judge/submit"
)

func newServer(t *testing.T, findings ...Finding) *Server {
	t.Helper()
	dir := t.TempDir()
	s, err := New(t.Context(), Options{Dir: dir, Top: dir, Version: "test", Doctor: func(context.Context, string) ([]Finding, error) { return findings, nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// The list of tools is what every session pays before its first call.
func TestTools_TakeAtMost1500Tokens(t *testing.T) {
	t.Parallel()
	here, there := sdk.NewInMemoryTransports()
	server, err := newServer(t).session(false).Connect(t.Context(), there, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	client, err := sdk.NewClient(&sdk.Implementation{Name: "test"}, nil).Connect(t.Context(), here, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	list, err := client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(list)
	if tokens := len(text) / 4; err != nil || tokens > 1500 || len(list.Tools) != 6 {
		t.Errorf("%d tools take %d tokens, %v", len(list.Tools), tokens, err)
	} else {
		t.Logf("%d tokens", tokens)
	}
}

func TestDocument_ListsTheWordsOfOthers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"id":"1","status":"compiled"}`:                            `{"budget":"advisory"}`,
		`{"id":"1","reason":"why","detail":"said"}`:                 `{"budget":"advisory","untrusted":["detail"]}`,
		`{"errors":[{"message":"x"}],"worst_input":"N1"}`:           `{"budget":"advisory","untrusted":["errors","worst_input"]}`,
		`{"worst":[{"speedup":1},{"case":"x"}]}`:                    `{"budget":"advisory","untrusted":["worst.case"]}`,
		`{"worst":"x","other":{"detail":"not that of the answer"}}`: `{"budget":"advisory"}`,
	} {
		res, err := document{text: []byte(text), untrusted: []string{"detail", "errors", "worst.case", "worst_input"}, budget: "advisory"}.result()
		if err != nil || len(res.Content) != 2 || res.Content[0].(*sdk.TextContent).Text != text || res.Content[1].(*sdk.TextContent).Text != want {
			t.Errorf("%s: %+v, %v; want %s", text, res, err, want)
		}
	}
}

func TestBatch_StaysSmall(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("\"x", 1000)
	var answers []submit.Answer
	for range submit.MaxBatch {
		answers = append(answers, submit.Answer{
			ID: long, Status: submit.CompileError, Stage: submit.Full, Verdict: long, Reason: "in short", Detail: long, Speedup: math.MaxFloat64, Best: long,
			Errors: []submit.BuildError{{File: long, Message: long}, {File: long, Message: long}, {File: long, Message: long}},
		})
	}
	text, err := encodeBatch(answers)
	if err != nil || len(text) > 3*maxBatch || !json.Valid(text) {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

func TestDoctor_Pages(t *testing.T) {
	t.Parallel()
	var all []Finding
	for range 2*maxFindings + 1 {
		all = append(all, Finding{Group: "device", Name: "x", State: "warn", Message: strings.Repeat("x", 9*maxFinding)}, Finding{State: "ok"})
	}
	s := newServer(t, all...)
	write(t, s.o.Dir, "pawl.yaml", "version: 1\n")
	for skip, want := range map[int]struct{ count, next int }{0: {maxFindings, maxFindings}, maxFindings: {maxFindings, 2 * maxFindings}, 2 * maxFindings: {1, 0}, 99: {0, 0}} {
		res, err := (&client{Server: s}).doctor(t.Context(), nil, doctorInput{Skip: skip})
		if err != nil {
			t.Fatal(err)
		}
		var doc struct {
			Usable   bool
			OK, Next int
			Findings []Finding
		}
		text := res.Content[0].(*sdk.TextContent).Text
		if err := json.Unmarshal([]byte(text), &doc); err != nil || !doc.Usable || doc.OK != 2*maxFindings+1 || len(doc.Findings) != want.count || doc.Next != want.next || len(text) > 4000 {
			t.Errorf("%d: %s, %v", skip, text, err)
		}
	}
}

// The reference names every tool and every input.
func TestReference_NamesAllInputs(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../../docs/reference/mcp.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"submit", "submit_batch", "explain", "history", "note", "doctor"} {
		if !strings.Contains(string(page), "| `"+name+"` |") {
			t.Errorf("no row for %s", name)
		}
	}
	for _, in := range []any{submitInput{}, batchInput{}, explainInput{}, historyInput{}, noteInput{}, doctorInput{}} {
		for _, f := range reflect.VisibleFields(reflect.TypeOf(in)) {
			if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && !strings.Contains(string(page), "`"+name+"`") {
				t.Errorf("%T: no word about %s", in, name)
			}
		}
	}
}
