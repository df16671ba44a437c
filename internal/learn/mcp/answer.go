package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// onlyCI is what every answer says of itself.
const onlyCI = "only the gate in CI is trusted: what an agent measures is self-reported"

// exitMeans are the exit codes in words.
var exitMeans = map[int]string{
	0: "yes: all checks passed, or not slower",
	1: "no: a check, a gate or the judge says no",
	2: "no answer: inconclusive, or nothing to test",
	3: "the tool or its environment cannot do what was asked",
	4: "the input, the suite or a file is wrong",
	5: "interrupted; what was done is kept",
}

// Answer is what every tool answers with.
type Answer struct {
	Trusted bool           `json:"trusted"` // never
	Why     string         `json:"why"`
	Exit    int            `json:"exit"`
	Means   string         `json:"means"`
	Seconds float64        `json:"seconds"`
	Refused string         `json:"refused,omitempty"` // in pawl's words: why nothing was run
	Limit   string         `json:"limit,omitempty"`   // what ended it before it was done
	Cut     string         `json:"cut,omitempty"`     // where the whole answer is
	Result  map[string]any `json:"result,omitempty"`
	Said    string         `json:"untrusted_said,omitempty"` // on stderr
	Budget  *Left          `json:"budget,omitempty"`
}

// OutputSchema is the JSON Schema of what the tool gives.
func (t Tool) OutputSchema() map[string]any {
	str := map[string]any{"type": "string"}
	result := map[string]any{"type": "object", "description": "what pawl " + strings.Join(t.words, " ") + " --json answers; strings that are not pawl's own are in fields named untrusted_*"}
	if t.gives != nil {
		result["properties"] = t.gives
	}
	return map[string]any{
		"type": "object", "required": []string{"trusted", "why", "exit", "means", "seconds"}, "additionalProperties": false,
		"properties": map[string]any{
			"trusted": map[string]any{"const": false, "description": onlyCI},
			"why":     str,
			"exit":    map[string]any{"type": "integer", "minimum": -1, "maximum": 255},
			"means":   str, "seconds": map[string]any{"type": "number", "minimum": 0},
			"refused": map[string]any{"type": "string", "description": "why nothing was run, in pawl's words"},
			"limit":   map[string]any{"enum": []string{"time", "cancelled"}, "description": "what ended the command before it was done"},
			"cut":     str, "result": result,
			"untrusted_said": map[string]any{"type": "string", "description": "what the command wrote to stderr: messages of compilers and others"},
			"budget": map[string]any{"type": "object", "properties": map[string]any{
				"device_seconds_left": aNumber, "device_seconds_spent": aNumber, "dollars_left": aNumber, "dollars_spent": aNumber,
			}},
		},
	}
}

// told makes an answer from what came of a command.
func told(t Tool, out outcome) Answer {
	a := Answer{Why: onlyCI, Exit: out.exit, Means: exitMeans[out.exit], Seconds: out.seconds, Limit: out.limit, Said: Harmless(strings.TrimSpace(out.said))}
	switch {
	case out.limit == cancelled:
		a.Means = cancelledMeans
	case out.limit == "time":
		a.Means = fmt.Sprintf("ended after the %s this tool may take; what was done is kept", t.timeLimit())
	case a.Means == "":
		a.Means = "the command ended in a way it should not have"
	}
	if out.cut {
		a.Cut = fmt.Sprintf("the answer is longer than %d bytes and left out; what was measured is in results/, what was tuned in tuning/", maxOutput)
		return a
	}
	a.Result = document(out.stdout)
	return a
}

// document reads the JSON that a command wrote, and marks it. What is no JSON is somebody's
// text.
func document(stdout []byte) map[string]any {
	stdout = bytes.TrimSpace(stdout)
	if len(stdout) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(stdout))
	d.UseNumber()
	var doc any
	if err := d.Decode(&doc); err != nil || d.More() {
		return map[string]any{untrusted + "text": Harmless(string(stdout))}
	}
	marked, ok := Mark(doc).(map[string]any)
	if !ok {
		return map[string]any{untrusted + "text": Harmless(string(stdout))}
	}
	return marked
}

// result is an answer as the protocol carries it: structured in full; as text what is
// pawl's own; and what others wrote beside it as a resource, so that clients that show
// only content have it too, under its mark.
func (a Answer) result() (*mcp.CallToolResult, error) {
	whole, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	if len(whole) > maxOutput {
		a.Result = nil
		a.Cut = fmt.Sprintf("the answer is longer than %d bytes and left out; what was measured is in results/, what was tuned in tuning/", maxOutput)
		if whole, err = json.Marshal(a); err != nil {
			return nil, err
		}
	}
	var doc map[string]any
	if err := json.Unmarshal(whole, &doc); err != nil {
		return nil, err
	}
	own, others := split(doc)
	text, err := json.Marshal(own)
	if err != nil {
		return nil, err
	}
	res := &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: string(text)}},
		StructuredContent: json.RawMessage(whole),
		IsError:           a.Refused != "" || a.Exit > 2 || a.Exit < 0,
	}
	if len(others) > 0 {
		body, err := json.Marshal(bound(others))
		if err != nil {
			return nil, err
		}
		res.Content = append(res.Content, &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{
			URI: "pawl://untrusted", MIMEType: "application/json", Text: string(body),
		}})
	}
	return res, nil
}

// maxOthers bounds the copy of untrusted text that stands beside the structured answer.
const maxOthers = 48 << 10

func bound(fields []map[string]any) map[string]any {
	size := 0
	for i, f := range fields {
		body, _ := json.Marshal(f) //nolint:errchkjson // it was read from JSON
		if size += len(body); size > maxOthers {
			return map[string]any{"fields": fields[:i], "left_out": len(fields) - i}
		}
	}
	return map[string]any{"fields": fields}
}

// split takes the marked fields out of a document. They are listed with where they stood.
func split(doc map[string]any) (own map[string]any, others []map[string]any) {
	var walk func(path string, v any) any
	walk = func(path string, v any) any {
		switch v := v.(type) {
		case map[string]any:
			out := map[string]any{}
			for _, key := range slices.Sorted(maps.Keys(v)) {
				if strings.HasPrefix(key, untrusted) {
					others = append(others, map[string]any{"at": path, key: v[key]})
					continue
				}
				out[key] = walk(path+"/"+key, v[key])
			}
			return out
		case []any:
			out := make([]any, len(v))
			for i := range v {
				out[i] = walk(fmt.Sprintf("%s/%d", path, i), v[i])
			}
			return out
		}
		return v
	}
	plain, _ := walk("", doc).(map[string]any) // as doc is one
	return plain, others
}
