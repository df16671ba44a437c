package decide

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/internal/cli/bench"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/ratchet"
)

var startsBy = time.Date(2026, 11, 18, 9, 30, 0, 0, time.Local)

// fleetServer answers as a server whose fleet measures with this exit code.
type fleetServer struct {
	t        *testing.T
	exit     int
	parts    []client.GatePart // of the ended gate, if there are several
	endless  bool
	onAsk    func()
	bundle   []byte
	request  client.GateRequest
	asked    int
	canceled bool
	packed   []byte
}

var calibrated = &client.Calibration{At: time.Date(2026, 11, 18, 8, 0, 0, 0, time.UTC), Rounds: 16, Noise: 0.002, Smallest: 0.005, Found: true}

const calibratedText = "GPU-1 calibrated 2026-11-18 08:00: noise 0.2 %, finds changes of 0.5 %"

func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

func (s *fleetServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	at := strings.TrimPrefix(r.URL.Path, "/v1/projects/kernels/")
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get("Authorization") != "Bearer secret" {
		s.t.Errorf("%s %s: %v, %v", r.Method, at, r.Header, err)
	}
	switch verb := r.Method + " " + strings.Split(at, "/")[0]; verb {
	case "HEAD blobs":
		w.WriteHeader(http.StatusNotFound)
	case "POST blobs":
		s.bundle = body
	case "GET blobs":
		_, _ = w.Write(s.packed)
	case "PUT gates":
		if err := json.Unmarshal(body, &s.request); err != nil || s.request.Check() != nil {
			s.t.Errorf("request %s: %v, %v", body, err, s.request.Check())
		}
		s.answer(w, client.GatePart{Model: "l4", State: "waiting", Position: 2, Reason: "busy", Start: &startsBy})
	case "DELETE gates":
		s.canceled = true
	case "GET gates":
		s.asked++
		if s.onAsk != nil {
			s.onAsk()
		}
		if s.endless || s.asked == 1 {
			s.answer(w, client.GatePart{Model: "l4", State: "measuring", Device: "GPU-1", Rounds: 3})
			return
		}
		if s.parts != nil {
			s.answer(w, s.parts...)
			return
		}
		s.answer(w, client.GatePart{Model: "l4", State: "done", Device: "GPU-1", Exit: &s.exit, Record: digestOf(s.packed), Calibration: calibrated})
	default:
		s.t.Errorf("unexpected %s", verb)
	}
}

func (s *fleetServer) answer(w io.Writer, parts ...client.GatePart) {
	_ = json.NewEncoder(w).Encode(client.Gate{Gate: "01JC0000000000000000000001", Parts: parts})
}

// repository makes two commits and returns the path of the suite.
func repository(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "."}, {"commit", "-q", "-m", "one"}, {"add", "."}, {"commit", "-q", "-m", "two"},
	} {
		if args[0] == "add" {
			f, err := os.OpenFile(filepath.Join(dir, "pawl.yaml"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteString("# a line\n"); err != nil || f.Close() != nil {
				t.Fatal(err)
			}
		}
		testrun.Git(t, dir, args...)
	}
	return filepath.Join(dir, "pawl.yaml")
}

func newRunOn(t *testing.T, s *fleetServer) (f *runFlags, out, said *bytes.Buffer) {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for name, text := range map[string]string{"verdict.json": `{"verdict": "regression", "sentence": "it is slower"}`, "ratchet_report.md": "# slower\n- policy: paired\n"} {
		w, err := z.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, text)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	s.t, s.packed = t, b.Bytes()
	front := httptest.NewServer(s)
	t.Cleanup(front.Close)
	vars := map[string]string{"PAWL_SERVER": front.URL, "PAWL_PROJECT": "kernels", "PAWL_TOKEN": "secret"}
	out, said = &bytes.Buffer{}, &bytes.Buffer{}
	g := &env.Env{Globals: &command.Globals{IO: &command.IO{Out: out, Err: said, Getenv: func(name string) string { return vars[name] }}}}
	f = &runFlags{Flags: bench.Flags{Env: g, FlagSet: NewRun(g).Flags()}, on: "l4"}
	f.Base = "HEAD~1"
	if err := f.FlagSet.Set("on", f.on); err != nil {
		t.Fatal(err)
	}
	return f, out, said
}

func TestRunOn_SameDocumentsAndExitCode(t *testing.T) {
	s := &fleetServer{exit: 1}
	f, out, said := newRunOn(t, s)
	f.urgent = 5
	path := repository(t)
	err := f.runOn(t.Context(), path)
	exit, ok := errors.AsType[*command.ExitError](err)
	if !ok || exit.Code != 1 {
		t.Fatalf("error %v, want exit code 1", err)
	}
	if !strings.Contains(out.String(), "l4: regression: it is slower") {
		t.Errorf("printed %q", out)
	}
	for _, want := range []string{"position 2 in the queue: busy, starts by Nov 18 09:30 at the latest", "measuring on GPU-1 (starting, 3 rounds)", "done"} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("said %q, want %q", said, want)
		}
	}
	if !strings.Contains(out.String(), calibratedText) {
		t.Errorf("printed %q, want the calibration", out)
	}
	if text, err := os.ReadFile(filepath.Join(filepath.Dir(path), "results", "ratchet_report.md")); err != nil || string(text) != "# slower\n- calibration: "+calibratedText+"\n- policy: paired\n" {
		t.Errorf("report %q, %v", text, err)
	}
	// A repository without anything else can read the bundle.
	fresh := t.TempDir()
	file := filepath.Join(fresh, "bundle")
	if err := os.WriteFile(file, s.bundle, 0o600); err != nil {
		t.Fatal(err)
	}
	if digestOf(s.bundle) != s.request.Bundle || s.request.Suite != "pawl.yaml" || s.request.Priority != 5 {
		t.Errorf("request %+v", s.request)
	}
	for _, args := range [][]string{{"init", "-q"}, {"bundle", "unbundle", file}, {"cat-file", "-e", s.request.Base}, {"checkout", "-q", s.request.Head}} {
		if _, err := shell.GitOutput(t.Context(), fresh, args...); err != nil {
			t.Errorf("git %v: %v", args, err)
		}
	}
}

func TestGateNews_PrintedOnlyIfSomethingChanged(t *testing.T) {
	at := func(d time.Duration) *time.Time { start := startsBy.Add(d); return &start }
	said := client.GatePart{State: "waiting", Position: 2, Reason: "busy", Start: at(0)}
	for name, c := range map[string]struct {
		change func(*client.GatePart)
		want   bool
	}{
		"nothing":                   {func(*client.GatePart) {}, false},
		"the start by minutes":      {func(p *client.GatePart) { p.Start = at(9 * time.Minute) }, false},
		"the start by a lot":        {func(p *client.GatePart) { p.Start = at(10 * time.Minute) }, true},
		"the start to earlier":      {func(p *client.GatePart) { p.Start = at(-time.Hour) }, true},
		"no start any more":         {func(p *client.GatePart) { p.Start = nil }, true},
		"the position":              {func(p *client.GatePart) { p.Position = 1 }, true},
		"the reason":                {func(p *client.GatePart) { p.Reason = "no budget" }, true},
		"from waiting to measuring": {func(p *client.GatePart) { *p = client.GatePart{State: "measuring"} }, true},
	} {
		p := said
		c.change(&p)
		if got := newsOf(p).differs(newsOf(said)); got != c.want {
			t.Errorf("%s: printed again is %t, want %t", name, got, c.want)
		}
	}
}

// Several models end in one report, one verdict and one exit code. A model without a result is named.
func TestRunOn_SeveralModelsOneReport(t *testing.T) {
	s := &fleetServer{}
	f, out, _ := newRunOn(t, s)
	failed, digest := 1, digestOf(s.packed)
	s.parts = []client.GatePart{
		{Model: "h100", State: "failed", Reason: "no device was free"},
		{Model: "l4", State: "done", Device: "GPU-1", Exit: &failed, Record: digest, Calibration: calibrated},
	}
	f.on = "l4,h100"
	path := repository(t)
	err := f.runOn(t.Context(), path)
	if exit, ok := errors.AsType[*command.ExitError](err); !ok || exit.Code != 1 || !strings.Contains(err.Error(), "h100: the gate ended as failed: no device was free") {
		t.Fatalf("error %v, want exit code 1 and the failed model", err)
	}
	results := filepath.Join(filepath.Dir(path), "results")
	for _, name := range []string{"l4/ratchet_report.md", "report.html", "ratchet_report.md"} {
		if _, err := os.Stat(filepath.Join(results, name)); err != nil {
			t.Error(err)
		}
	}
	for _, name := range []string{"report.html", "ratchet_report.md", "verdict.json"} {
		if text, err := os.ReadFile(filepath.Join(results, name)); err != nil || !bytes.Contains(text, []byte(calibratedText)) {
			t.Errorf("%s does not have the calibration: %v", name, err)
		}
	}
	text, err := os.ReadFile(filepath.Join(results, "verdict.json"))
	if err != nil {
		t.Fatal(err)
	}
	var v ratchet.Result
	if err := json.Unmarshal(text, &v); err != nil || v.Verdict != ratchet.Regression || len(v.Devices) != 2 {
		t.Errorf("verdict %s, %v", text, err)
	}
	for _, want := range []string{"FAIL:", "Regression on l4, no answer on h100.", "No answer on h100: the gate ended as failed: no device was free", "gate on h100, l4"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("printed %q, want %q", out, want)
		}
	}
}

// A host that says that all is well, and delivers nothing, has shown nothing.
func TestRunOn_PassWithoutDocuments(t *testing.T) {
	for _, why := range []string{"", "cannot deliver the documents: no room"} {
		s := &fleetServer{}
		f, _, _ := newRunOn(t, s)
		passed := 0
		s.parts = []client.GatePart{{Model: "l4", State: "done", Device: "GPU-1", Exit: &passed, Error: why}}
		err := f.runOn(t.Context(), repository(t))
		if exit, ok := errors.AsType[*command.ExitError](err); !ok || exit.Code != command.ExitCannot || !strings.Contains(err.Error(), cmp.Or(why, "left no documents")) {
			t.Errorf("error %v, want exit code %d", err, command.ExitCannot)
		}
	}
}

func TestRunOn_InterruptCancelsTheGate(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := &fleetServer{endless: true, onAsk: cancel}
	f, _, _ := newRunOn(t, s)
	if err := f.runOn(ctx, repository(t)); !errors.Is(err, command.ErrInterrupted) {
		t.Errorf("error %v", err)
	}
	if !s.canceled {
		t.Error("the gate was not canceled")
	}
}

func TestRunOn_Refused(t *testing.T) {
	path := repository(t)
	for name, change := range map[string]func(*runFlags) error{
		"uncommitted changes": func(*runFlags) error { return os.WriteFile(path, []byte("# another\n"), 0o600) },
		"not a model":         func(f *runFlags) error { f.on = "../l4"; return nil },
		"an urgent gate":      func(f *runFlags) error { f.urgent = 1; return nil },
		"no such base":        func(f *runFlags) error { f.Base = "nowhere"; return nil },
	} {
		t.Run(name, func(t *testing.T) {
			s := &fleetServer{}
			f, _, _ := newRunOn(t, s)
			if err := change(f); err != nil {
				t.Fatal(err)
			}
			err := f.runOn(t.Context(), path)
			if _, usage := errors.AsType[*command.UsageError](err); !usage || s.request.Head != "" {
				t.Errorf("error %v, request %+v: want a usage error before anything was sent", err, s.request)
			}
			if err := os.WriteFile(path, []byte("# a line\n# a line\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
}
