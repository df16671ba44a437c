package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// handler is what happens when a tool is called.
func (s *Server) handler(t Tool) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		type answer struct {
			Answer
			err error
		}
		done := make(chan answer, 1)
		s.under.Go(func() {
			a, err := s.call(ctx, t, req)
			done <- answer{a, err}
		})
		var a answer
		select {
		case a = <-done:
		case <-ctx.Done():
			// The client does not wait for what it cancelled to end. Until that is gone
			// and paid for, the device stays locked: no other tool measures beside it.
			return Answer{Why: onlyCI, Exit: 1, Means: cancelledMeans, Limit: cancelled}.result()
		}
		if a.err != nil {
			return nil, a.err
		}
		return a.result()
	}
}

func (s *Server) call(ctx context.Context, t Tool, req *mcp.CallToolRequest) (Answer, error) {
	args, err := s.argv(t, req.Params.Arguments)
	if e, ok := errors.AsType[*inputError](err); ok {
		return Answer{Why: onlyCI, Exit: 4, Means: exitMeans[4], Refused: e.Error()}, nil
	}
	if err != nil {
		return Answer{}, err
	}
	actor := actorName(req.ClientInfo())
	tell := s.progress(ctx, req)
	if !t.open {
		s.device.Lock()
		defer s.device.Unlock()
		if ctx.Err() != nil {
			return Answer{}, ctx.Err()
		}
	}
	left, refused := s.purse.look(!t.open, t.spends != "")
	if refused != "" {
		return Answer{Why: onlyCI, Exit: 1, Means: exitMeans[1], Refused: refused, Budget: left}, nil
	}
	if t.spends != "" {
		args = bindBudget(args, t, left, req.Params.Arguments)
	}
	out, err := s.run(ctx, actor, args, t.timeLimit(), tell)
	if err != nil {
		return Answer{}, fmt.Errorf("start pawl %s: %w", t.words[0], err)
	}
	switch {
	case !t.open:
		left = s.purse.settle(t.spends != "", out.seconds)
	case s.device.TryLock(): // else the tool that has the device takes note of this one's entry too
		left = s.purse.settle(false, 0)
		s.device.Unlock()
	}
	a := told(t, out)
	a.Budget = left
	if t.judge && out.limit == "" && slices.ContainsFunc(args, func(w string) bool { return strings.HasPrefix(w, "--base=") }) && out.exit <= 2 {
		s.addVerdict(ctx, actor, &a)
		a.Budget = s.purse.settle(false, 0) // the judge's entry must not be cut off either
	}
	if t.Name == "next" {
		a.Result = withNextTool(a.Result)
	}
	return a, nil
}

// addVerdict has the judge look at what was just measured.
func (s *Server) addVerdict(ctx context.Context, actor string, a *Answer) {
	out, err := s.run(ctx, actor, []string{"compare", "--json", "--", "results/current.json"}, usualLimit, nil)
	if err != nil || out.cut || out.limit != "" {
		return
	}
	judged := document(out.stdout)
	if judged == nil {
		return
	}
	if a.Result == nil {
		a.Result = map[string]any{}
	}
	a.Result["judged"] = judged
}

// bindBudget gives a command at most what is left.
func bindBudget(args []string, t Tool, left *Left, raw json.RawMessage) []string {
	most := time.Duration(left.Seconds * float64(time.Second))
	var given struct {
		Seconds float64 `json:"seconds"`
	}
	if json.Unmarshal(raw, &given) == nil && given.Seconds > 0 {
		most = min(most, time.Duration(given.Seconds*float64(time.Second)))
	}
	flag := "--" + t.spends + "=" + most.Round(time.Second).String()
	if at := slices.Index(args, "--"); at >= 0 {
		return slices.Insert(args, at, flag)
	}
	return append(args, flag)
}

// withNextTool adds which tool does what a step says. The command of the step is text with
// names of cases in it; its first words decide.
func withNextTool(result map[string]any) map[string]any {
	command, _ := result[untrusted+"command"].(string)
	f := strings.Fields(command)
	if len(f) < 2 || f[0] != "pawl" {
		return result
	}
	for _, t := range Tools() {
		if slices.Equal(t.words, f[1:min(len(f), 1+len(t.words))]) {
			result["next_tool"] = t.Name
			return result
		}
	}
	return result
}

var notInName = lazyregexp.New(`[^A-Za-z0-9._-]+`)

// actorName is what a client calls itself, fit for a variable and a journal.
func actorName(i *mcp.Implementation) string {
	if i == nil {
		return "unknown"
	}
	name := strings.Trim(notInName.ReplaceAllString(i.Name, "-"), "-.")
	if name == "" {
		return "unknown"
	}
	return name[:min(len(name), 40)]
}
