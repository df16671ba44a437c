package mcp

import (
	"context"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// progress tells the client what a command is doing, if it asked for that. Its sentences
// are made of pawl's words and numbers only.
func (s *Server) progress(ctx context.Context, req *mcp.CallToolRequest) func(map[string]any) {
	token := req.Params.GetProgressToken()
	if token == nil || req.Session == nil {
		return nil
	}
	var mu sync.Mutex
	n := 0.0
	return func(e map[string]any) {
		text := sentence(e)
		if text == "" {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		n++
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: text})
	}
}

// sentence says what an event is about; empty for one that is not worth telling.
func sentence(e map[string]any) string {
	name, _ := e["event"].(string)
	side, _ := e["side"].(string)
	if !words["side"][side] {
		side = "a reference"
	}
	num := func(key string) float64 { v, _ := e[key].(float64); return v }
	switch name {
	case "building":
		return "building " + side
	case "built":
		return fmt.Sprintf("built %s in %.1f s", side, num("seconds"))
	case "waiting":
		return "waiting for the device"
	case "ready":
		return fmt.Sprintf("measuring %.0f cases", num("cases"))
	case "round_started":
		return fmt.Sprintf("round %.0f of %.0f", num("round"), num("of"))
	case "looked":
		return fmt.Sprintf("%.0f rounds, %.0f cases undecided", num("rounds"), num("undecided"))
	case "point":
		return fmt.Sprintf("point %.0f of %.0f", num("done"), num("total"))
	case "profiling", "profiled", "explained", "calibrated", "identical", "confirming", "saved":
		return name
	case "tune_ready":
		return "searching"
	case "tune_evaluated":
		return fmt.Sprintf("evaluation %.0f, best %.0f ns", num("done"), num("best_ns"))
	case "proof_checked":
		return "what was found is right"
	}
	return ""
}
