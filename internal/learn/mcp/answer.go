package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/judge/submit"
)

// document is an answer: a bounded JSON document, and what a client has to know about it.
type document struct {
	text      []byte
	untrusted []string // fields that hold the words of others, as paths
	failed    bool
	budget    string
	queued    float64 // seconds that the call waited for other calls
}

// result returns the document as one text content and what to know about it as another. The document stays as submit
// wrote it.
func (d document) result() (*mcp.CallToolResult, error) {
	var doc any
	if err := json.Unmarshal(d.text, &doc); err != nil {
		return nil, err
	}
	about := struct {
		Budget    string   `json:"budget,omitempty"`
		Queued    float64  `json:"queued_s,omitempty"`
		Untrusted []string `json:"untrusted,omitempty"`
	}{Budget: d.budget, Queued: d.queued}
	for _, path := range d.untrusted {
		if has(doc, strings.Split(path, ".")) {
			about.Untrusted = append(about.Untrusted, path)
		}
	}
	more, err := json.Marshal(about)
	if err != nil {
		return nil, err
	}
	res := &mcp.CallToolResult{IsError: d.failed, Content: []mcp.Content{&mcp.TextContent{Text: string(bytes.TrimSpace(d.text))}}}
	if string(more) != "{}" {
		res.Content = append(res.Content, &mcp.TextContent{Text: string(more)})
	}
	return res, nil
}

// has reports whether a document has a field, in any element of lists on the way.
func has(v any, path []string) bool {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			if has(item, path) {
				return true
			}
		}
		return false
	case map[string]any:
		next, ok := v[path[0]]
		return ok && (len(path) == 1 || has(next, path[1:]))
	}
	return false
}

// usage is an error in a call, in pawl's own words.
type usage string

func (u usage) Error() string { return string(u) }

const maxError = 500

// answerError answers for a call that could not be done. Errors in a call are in pawl's own words; others may quote.
func answerError(err error) (*mcp.CallToolResult, error) {
	d := document{failed: true, untrusted: []string{"detail"}}
	doc := struct {
		Error  string `json:"error"`
		Detail string `json:"detail,omitempty"`
	}{Error: "pawl cannot do this"}
	_, own := errors.AsType[usage](err)
	switch {
	case own, errors.Is(err, submit.ErrUsage), errors.Is(err, submit.ErrSpent), errors.Is(err, submit.ErrNoLaunch):
		doc.Error = words.SanitizeTo(err.Error(), maxError)
	case errors.Is(err, context.Canceled):
		doc.Error = "canceled"
	default:
		doc.Detail = words.SanitizeTo(err.Error(), maxError)
	}
	if d.text, err = json.Marshal(doc); err != nil {
		return nil, err
	}
	return d.result()
}

// maxBatch is how many bytes of a batch's answers are complete. The others are reduced to their result, and history
// has the rest.
const maxBatch = 12_000

func encodeBatch(answers []submit.Answer) ([]byte, error) {
	b := bytes.NewBufferString(`{"answers":[`)
	for i, a := range answers {
		text, err := a.Encode()
		if err == nil && b.Len()+len(text) > maxBatch {
			text, err = submit.Answer{ID: a.ID, Status: a.Status, Stage: a.Stage, Verdict: a.Verdict, Speedup: a.Speedup, Range: a.Range, Best: a.Best}.Encode()
		}
		if err != nil {
			return nil, err
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.Write(bytes.TrimSpace(text))
	}
	b.WriteString("]}\n")
	return b.Bytes(), nil
}
