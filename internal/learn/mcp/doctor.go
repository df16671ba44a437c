package mcp

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

// Finding is what doctor found out. Message and Fix are pawl's own words; Detail quotes the suite or a harness.
type Finding struct {
	Group   string `json:"group"`
	Name    string `json:"name"`
	State   string `json:"state"`
	Message string `json:"message,omitempty"`
	Fix     string `json:"fix,omitempty"`
	Detail  string `json:"detail,omitempty"`
}

// maxFinding is the max length of a text of a finding.
const maxFinding = 300

func (c *client) doctor(ctx context.Context, _ *mcp.CallToolRequest, in doctorInput) (*mcp.CallToolResult, error) {
	if in.Skip < 0 {
		return nil, usage("skip must be at least 0")
	}
	path, err := c.suiteFile(in.Suite)
	if err != nil {
		return nil, err
	}
	all, err := c.o.Doctor(ctx, path)
	if err != nil {
		return nil, err
	}
	doc := struct {
		Usable   bool      `json:"usable"`
		OK       int       `json:"ok"` // findings without a problem
		Findings []Finding `json:"findings"`
		Next     int       `json:"next,omitempty"`
	}{Usable: true, Findings: []Finding{}}
	var list []Finding
	for _, f := range all {
		if f.State == "ok" {
			doc.OK++
			continue
		}
		doc.Usable = doc.Usable && f.State != "missing"
		f.Message, f.Fix, f.Detail = words.SanitizeTo(f.Message, maxFinding), words.SanitizeTo(f.Fix, maxFinding), words.SanitizeTo(f.Detail, maxFinding)
		list = append(list, f)
	}
	skip := min(in.Skip, len(list))
	end := min(skip+maxFindings, len(list))
	doc.Findings = append(doc.Findings, list[skip:end]...)
	if end < len(list) {
		doc.Next = end
	}
	text, err := json.Marshal(doc)
	if err != nil {
		return nil, err
	}
	return document{text: text, untrusted: []string{"findings.detail"}}.result()
}
