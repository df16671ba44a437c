package remote

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// liveServer starts a server that collects the live events of a run.
func newLiveServer(t *testing.T) (address string, told func() []client.LiveEvent) {
	t.Helper()
	var mu sync.Mutex
	var list []client.LiveEvent
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		events, err := client.DecodeLive(body, time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC))
		if err != nil || r.Header.Get("Authorization") != "Bearer secret" || !strings.HasPrefix(r.URL.Path, "/v1/projects/kernels/live/") {
			t.Errorf("%s %v: %v", r.URL.Path, r.Header, err)
		}
		mu.Lock()
		defer mu.Unlock()
		list = append(list, events...)
		_, _ = io.WriteString(w, `{}`)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []client.LiveEvent {
		mu.Lock()
		defer mu.Unlock()
		return list
	}
}

func liveFlags(vars map[string]string) (*env.Env, *bytes.Buffer) {
	said := &bytes.Buffer{}
	return &env.Env{Globals: &command.Globals{IO: &command.IO{
		Err: said, Getenv: func(name string) string { return vars[name] },
		Now: func() time.Time { return time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC) }, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}}}, said
}

func TestARunTellsHowItGoes(t *testing.T) {
	var flag LiveFlag
	address, told := newLiveServer(t)
	f, _ := liveFlags(map[string]string{"PAWL_SERVER": address, "PAWL_PROJECT": "kernels", "PAWL_TOKEN": "secret", "PAWL_LIVE": "1", "GITHUB_HEAD_REF": "faster"})
	live := flag.Start(t.Context(), f, runner.Options{Suite: &suite.Suite{Name: "attention"}})
	key := measure.CaseKey{Benchmark: "b", Config: "N1", Implementation: measure.Candidate}
	measured := func(round int, samples ...float64) {
		live.Event(runner.Measuring{Event: trial.RoundStarted{Number: round}})
		live.Event(runner.Measuring{Event: trial.CaseMeasured{Side: measure.Candidate, Result: measure.Result{Case: key, Round: measure.CaseRound{Samples: samples}}}})
	}
	done := func(n int, dropped string) {
		live.Event(runner.Measuring{Event: trial.RoundDone{Number: n, Of: 4, Round: measure.Round{Dropped: dropped}}})
	}
	live.Event(runner.Listed{Cases: []measure.Case{{CaseKey: key, Unit: "ns"}}})
	live.Event(runner.Ready{Run: "01JC0000000000000000000001", Commit: "ab", Device: gpu.Identity{Name: "NVIDIA L4"}, Sides: []string{measure.Candidate}, Cases: 1, Rounds: []int{4}})
	measured(1, 100, 102, 104)
	done(1, "")
	measured(2, 900) // of a dropped round
	done(2, "the clock fell")
	measured(2, 110)
	live.End(ratchet.Result{Verdict: ratchet.Maintained, Sentence: "Maintained."}, nil)

	var values []float64
	var kinds []string
	for _, e := range told() {
		kinds = append(kinds, string(e.Kind))
		if e.Kind == client.LiveCase {
			values = append(values, e.Value)
			if e.Unit != "ns" || e.Case != "b/N1" {
				t.Errorf("%+v", e)
			}
		}
	}
	if got := strings.Join(kinds, " "); got != "step started case round case round case verdict ended" {
		t.Errorf("told %s", got)
	}
	if len(values) != 3 || values[0] != 102 || values[1] != 501 || values[2] != 106 {
		t.Errorf("medians of the rounds that count: %v", values)
	}
	if s := told()[1]; s.Suite != "attention" || s.Branch != "faster" || s.Run == "" || s.Device != "NVIDIA L4" {
		t.Errorf("%+v", s)
	}
}

// Live progress is off by default, and an unavailable server does not slow the run.
func TestARunTellsNobody(t *testing.T) {
	var flag LiveFlag
	f, _ := liveFlags(map[string]string{"PAWL_SERVER": "http://127.0.0.1:1", "PAWL_PROJECT": "kernels"})
	if live := flag.Start(t.Context(), f, runner.Options{Suite: &suite.Suite{}}); live != nil {
		t.Error("live progress is sent although it is off")
	}
	flag.on = true
	if err := flag.Check(f); err != nil {
		t.Error(err)
	}
	live := flag.Start(t.Context(), f, runner.Options{Suite: &suite.Suite{}})
	for range 10_000 {
		live.Event(runner.Building{Side: "candidate"})
	}
	live.End(ratchet.Result{}, context.Canceled)
	var unset *liveReporter
	unset.Event(runner.Building{})
	unset.End(ratchet.Result{}, nil)

	f, said := liveFlags(map[string]string{"PAWL_LIVE": "1"})
	if flag.Start(t.Context(), f, runner.Options{Suite: &suite.Suite{}}) != nil || !strings.Contains(said.String(), "do not name a server") {
		t.Errorf("said %q", said)
	}
	flag.on = true
	if err := flag.Check(f); err == nil {
		t.Error("--live without a server is accepted")
	}
}
