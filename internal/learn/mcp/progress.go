package mcp

import (
	"context"
	"fmt"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
)

// teller sends notifications of progress, in pawl's own words.
type teller struct {
	send func(n float64, text string)
	mu   sync.Mutex
	n    float64
	last string
}

// progress returns a teller for a call. It is silent if the client did not ask for progress.
func progress(ctx context.Context, req *mcp.CallToolRequest) *teller {
	token := req.Params.GetProgressToken()
	if token == nil || req.Session == nil {
		return &teller{}
	}
	return &teller{send: func(n float64, text string) {
		_ = req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ProgressToken: token, Progress: n, Message: text})
	}}
}

func (t *teller) say(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.send == nil || text == "" || text == t.last {
		return
	}
	t.n, t.last = t.n+1, text
	t.send(t.n, text)
}

// event tells what a run does.
func (t *teller) event(e runner.Event) {
	switch e := e.(type) {
	case runner.Waiting:
		t.say("waiting for the device: another process uses it")
	case runner.Building:
		t.say("building")
	case runner.FuzzPlanned:
		t.say("looking for wrong results")
	case runner.Measuring:
		if r, ok := e.Event.(trial.RoundStarted); ok {
			t.say(fmt.Sprintf("measuring round %d", r.Number))
		}
	case runner.Profiling:
		t.say("profiling")
	}
}
