package mcp

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goatnote-inc/pawl/internal/judge/submit"
)

// Inputs of the tools.
type (
	inSuite struct {
		Suite string `json:"suite,omitempty" jsonschema:"suite file or its folder, from the top of the repository"`
	}
	candidate struct {
		Diff   string `json:"diff,omitempty" jsonschema:"unified diff on top of the base"`
		Commit string `json:"commit,omitempty" jsonschema:"or a commit"`
		Note   string `json:"note,omitempty" jsonschema:"what is tried and why"`
	}
	effort struct {
		Stage  submit.Stage `json:"stage,omitempty" jsonschema:"compile, smoke, quick or full (default)"`
		Budget float64      `json:"budget_s,omitempty" jsonschema:"max seconds for a candidate, default 60"`
	}
	submitInput struct {
		candidate
		Files []string `json:"files,omitempty" jsonschema:"or files of the working tree, from the top of the repository"`
		effort
		inSuite
	}
	batchInput struct {
		Candidates []candidate `json:"candidates" jsonschema:"up to 64"`
		effort
		inSuite
	}
	explainInput struct {
		ID    string `json:"id"`
		Other string `json:"other,omitempty" jsonschema:"attempt or base; default: the best"`
		inSuite
	}
	historyInput struct {
		Skip  int `json:"skip,omitempty" jsonschema:"attempts before this page"`
		Count int `json:"count,omitempty" jsonschema:"1 to 10, default 5"`
		inSuite
	}
	noteInput struct {
		ID   string `json:"id"`
		Text string `json:"text"`
		inSuite
	}
	doctorInput struct {
		Skip int `json:"skip,omitempty" jsonschema:"findings before this page"`
		inSuite
	}
)

// client is the server as one client sees it.
type client struct {
	*Server
	apart bool // its account is not the server's
}

func (c *client) addTools(s *mcp.Server) {
	add(s, c.submit, "submit", false, "Judge a candidate: the base with a diff, a commit, or files of the working tree (default: all that differ). "+
		"Stages end early: compile builds; smoke also looks for wrong results; quick also races the base and the best so far for a few rounds, and may say ahead or behind, unconfirmed; full judges. "+
		"Answers with status, verdict, speedup and interval relative to the base, compiler errors, best so far, waited_s, cost_s, left_s. It executes the candidate.")
	add(s, c.batch, "submit_batch", false, "Judge several candidates: they are built in parallel and race in the same rounds; the last two are judged in fresh rounds.")
	add(s, c.explain, "explain", false, "Say why an attempt is as fast as it is, compared with another: code differences, hot lines, what to try. Builds and profiles both.")
	add(s, c.history, "history", false, "List attempts with diff, note and verdict, best first.")
	add(s, c.note, "note", false, "Keep a text with an attempt, such as what was learned.")
	add(s, c.doctor, "doctor", true, "List what is missing or wrong on this machine and in the suite. Measures nothing.")
}

// handler answers a call. An error of its own becomes an answer in answerError.
type handler[In any] func(ctx context.Context, req *mcp.CallToolRequest, in In) (*mcp.CallToolResult, error)

func add[In any](s *mcp.Server, h handler[In], name string, reads bool, about string) {
	no := false
	tool := &mcp.Tool{Name: name, Description: about, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: reads, DestructiveHint: &no, OpenWorldHint: &no}}
	mcp.AddTool(s, tool, func(ctx context.Context, req *mcp.CallToolRequest, in In) (*mcp.CallToolResult, any, error) {
		res, err := h(ctx, req, in)
		if err != nil {
			res, err = answerError(err)
		}
		return res, nil, err
	})
}

func (c candidate) submission(e effort) submit.Submission {
	s := submit.Submission{Commit: c.Commit, Note: c.Note, Stage: e.Stage, Budget: e.Budget}
	if c.Diff != "" {
		s.Diff = []byte(c.Diff)
	}
	return s
}

func (c *client) submit(ctx context.Context, req *mcp.CallToolRequest, in submitInput) (*mcp.CallToolResult, error) {
	s := in.submission(in.effort)
	if in.Diff != "" && in.Commit != "" || len(in.Files) > 0 && in.Diff+in.Commit != "" {
		return nil, usage("diff, commit and files exclude each other: submit one candidate")
	}
	for _, name := range in.Files {
		path, err := c.local(name)
		if err != nil {
			return nil, err
		}
		s.Files = append(s.Files, path)
	}
	return c.spend(ctx, req, in.Suite, func(ctx context.Context, g *submit.Grant) (document, error) {
		a, err := g.Submit(ctx, s)
		if a.ID == "" {
			return document{}, err
		}
		text, err := a.Encode()
		return document{text: text, untrusted: []string{"detail", "errors", "worst.case", "worst_input"}, failed: a.Status == submit.Failed}, err
	})
}

func (c *client) batch(ctx context.Context, req *mcp.CallToolRequest, in batchInput) (*mcp.CallToolResult, error) {
	var list []submit.Submission
	for _, one := range in.Candidates {
		if (one.Diff == "") == (one.Commit == "") {
			return nil, usage("a candidate of a batch is a diff or a commit")
		}
		list = append(list, one.submission(in.effort))
	}
	return c.spend(ctx, req, in.Suite, func(ctx context.Context, g *submit.Grant) (document, error) {
		answers, err := g.SubmitBatch(ctx, list)
		if len(answers) == 0 {
			return document{}, err
		}
		text, err := encodeBatch(answers)
		return document{text: text, untrusted: []string{"answers.detail", "answers.errors", "answers.worst.case", "answers.worst_input"}}, err
	})
}

func (c *client) explain(ctx context.Context, req *mcp.CallToolRequest, in explainInput) (*mcp.CallToolResult, error) {
	return c.spend(ctx, req, in.Suite, func(ctx context.Context, g *submit.Grant) (document, error) {
		e, err := g.Explain(ctx, in.ID, in.Other)
		if err != nil {
			return document{}, err
		}
		text, err := e.Encode()
		return document{text: text, untrusted: []string{"case", "changes", "code", "hot.file", "notes"}}, err
	})
}

// Sizes of pages.
const (
	defaultHistory = 5
	maxHistory     = 10
	maxFindings    = 8
)

func (c *client) history(ctx context.Context, _ *mcp.CallToolRequest, in historyInput) (*mcp.CallToolResult, error) {
	if in.Count == 0 {
		in.Count = defaultHistory
	}
	if in.Count < 1 || in.Count > maxHistory || in.Skip < 0 {
		return nil, usage("count must be from 1 to 10, and skip at least 0")
	}
	g, err := c.grant(ctx, in.Suite)
	if err != nil {
		return nil, err
	}
	h, err := g.History(in.Skip, in.Count)
	if err != nil {
		return nil, err
	}
	text, err := h.Encode()
	if err != nil {
		return nil, err
	}
	return document{text: text, untrusted: []string{"attempts.note", "attempts.diff"}, budget: c.budget(g)}.result()
}

func (c *client) note(ctx context.Context, _ *mcp.CallToolRequest, in noteInput) (*mcp.CallToolResult, error) {
	g, err := c.grant(ctx, in.Suite)
	if err != nil {
		return nil, err
	}
	if err := g.Note(in.ID, in.Text); err != nil {
		return nil, err
	}
	return document{text: []byte(`{"noted":"` + in.ID + "\"}\n")}.result() // Note accepts numbers only
}
