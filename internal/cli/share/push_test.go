package share

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/client/clienttest"
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/env"
	"github.com/goatnote-inc/pawl/measure"
)

var pushNow = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// pusher runs pawl push in memory, with a test server and a fixed clock.
type pusher struct {
	server   *clienttest.Server
	env      map[string]string
	out, err bytes.Buffer
}

func newPusher(t *testing.T) *pusher {
	t.Helper()
	p := &pusher{server: clienttest.New("kernels", "secret")}
	t.Cleanup(p.server.Close)
	p.env = map[string]string{
		"PAWL_SERVER": p.server.URL, "PAWL_PROJECT": "kernels", "PAWL_TOKEN": "secret", "PAWL_SPOOL": filepath.Join(t.TempDir(), "spool"),
		"GITHUB_HEAD_REF": "faster", // the branch checked out here must not affect the test
	}
	return p
}

func (p *pusher) push(t *testing.T, args ...string) int {
	t.Helper()
	p.out.Reset()
	p.err.Reset()
	program := command.Program{Code: env.ExitCode, Docs: env.DocsFor, New: func(g *command.Globals) *cobra.Command {
		root := command.NewRoot(g, &cobra.Command{Use: "pawl"})
		root.AddCommand(NewPush(&env.Env{Globals: g}))
		return root
	}}
	return program.Run(t.Context(), append([]string{"push"}, args...), &command.IO{
		Out: &p.out, Err: &p.err, Getenv: func(name string) string { return p.env[name] },
		Now: func() time.Time { return pushNow }, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
}

// told returns the output, with the parts that differ between runs replaced.
func (p *pusher) told() string {
	text := "stderr:\n" + p.err.String() + "stdout:\n" + p.out.String()
	text = strings.ReplaceAll(text, p.server.URL, "https://pawl.example")
	text = regexp.MustCompile(`[0-9]+ bytes`).ReplaceAllString(text, "N bytes")
	return strings.ReplaceAll(text, p.env["PAWL_SPOOL"], "SPOOL")
}

func pushResults(t *testing.T, run string) string {
	t.Helper()
	r := &measure.Run{Header: measure.Header{
		Schema: measure.SchemaRun, ID: run, Created: pushNow.Add(-time.Hour), Source: measure.Measured, Trust: measure.Trusted, Suite: measure.SuiteRef{Name: "attention"},
		Device: gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA L4"}, Testbed: measure.Testbed{Kind: gpu.NVIDIA, Device: "NVIDIA L4", Clocks: gpu.ClockPolicy{Mode: gpu.ClocksFree}},
		Implementations: []measure.Implementation{{Name: measure.Candidate, Commit: strings.Repeat("ab", 20), Dirty: true}},
	}}
	r.Rounds = []measure.Round{{Index: 0}}
	r.Cases = []measure.Case{{
		CaseKey: measure.CaseKey{Benchmark: "b", Implementation: measure.Candidate}, Unit: "ns",
		Rounds: []measure.CaseRound{{Samples: measure.Samples{100, 101, 102}}},
	}}
	r.End.State = measure.Complete
	dir := t.TempDir()
	if err := measure.Save(filepath.Join(dir, "current.json"), r); err != nil {
		t.Fatal(err)
	}
	return dir
}

const pushRun = "01JCPT3Y3JQK6Z0Q8W3V5N7D9F"

func TestPushSaysWhatItDoes(t *testing.T) {
	p := newPusher(t)
	if code := p.push(t, pushResults(t, pushRun)); code != 0 {
		t.Fatalf("exit %d: %s", code, p.err.String())
	}
	golden.Check(t, "push.txt", p.told())
}

func TestPushSaysWhatWaits(t *testing.T) {
	p := newPusher(t)
	p.server.Before(func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	if code := p.push(t, "--wait", "1ns", pushResults(t, pushRun)); code != command.ExitCannot {
		t.Fatalf("exit %d: %s", code, p.err.String())
	}
	golden.Check(t, "push-waits.txt", p.told())
}

// A rejected report does not stop the others; an unavailable server does.
func TestPushResume(t *testing.T) {
	p := newPusher(t)
	p.env["PAWL_TOKEN"] = "wrong"
	for i := range 3 {
		if code := p.push(t, pushResults(t, fmt.Sprintf("01JCPT3Y3JQK6Z0Q8W3V5N7D9%d", i))); code != command.ExitCannot {
			t.Fatalf("exit %d: %s", code, p.err.String())
		}
	}
	if code := p.push(t, "--resume", "--json"); code != command.ExitCannot || strings.Count(p.out.String(), `"not tried"`) != 2 {
		t.Errorf("exit %d: %s", code, p.out.String())
	}
	p.env["PAWL_TOKEN"] = "secret"
	n := 0
	p.server.Before(func(w http.ResponseWriter, r *http.Request) bool {
		if !strings.HasSuffix(r.URL.Path, "/reports") {
			return false
		}
		if n++; n != 2 {
			return false
		}
		clienttest.Refuse(w, http.StatusConflict, client.ProblemError{Detail: "other contents"})
		return true
	})
	if code := p.push(t, "--resume"); code != command.ExitFailed || len(p.server.Reports()) != 2 || strings.Count(p.out.String(), "kept: run") != 2 {
		t.Errorf("exit %d, %d reports: %s", code, len(p.server.Reports()), p.told())
	}
	if code := p.push(t, "--resume"); code != 0 || !strings.Contains(p.err.String(), "the spool "+p.env["PAWL_SPOOL"]+" has nothing for kernels at ") {
		t.Errorf("exit %d: %s", code, p.told())
	}
}

func TestPushOfNothing(t *testing.T) {
	p := newPusher(t)
	dir := pushResults(t, pushRun)
	run, err := measure.Load(filepath.Join(dir, "current.json"))
	if err != nil {
		t.Fatal(err)
	}
	run.Cases = nil
	if err := measure.Save(filepath.Join(dir, "current.json"), run); err != nil {
		t.Fatal(err)
	}
	if code := p.push(t, dir); code != command.ExitNoAnswer || !strings.Contains(p.err.String(), "no case with a valid round") {
		t.Errorf("exit %d: %s", code, p.told())
	}
	if _, err := os.Stat(p.env["PAWL_SPOOL"]); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something is in the spool: %v", err)
	}
}

// A commit that changes no kernel leaves a verdict but no record. Pushing it succeeds.
func TestPushOfIdenticalSides(t *testing.T) {
	p := newPusher(t)
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "verdict.json"), []byte(`{"schema":"pawl.verdict/v1","verdict":"identical"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if code := p.push(t, dir); code != 0 || !strings.Contains(p.err.String(), "nothing to report: no input of a build") || len(p.server.Reports()) != 0 {
		t.Errorf("exit %d, %d reports: %s", code, len(p.server.Reports()), p.told())
	}
	if code := p.push(t, "--dry-run", dir); code != 0 {
		t.Errorf("exit %d: %s", code, p.told())
	}
	if code := p.push(t, "--json", dir); code != 0 || !strings.Contains(p.out.String(), `"receipts": []`) {
		t.Errorf("exit %d: %s", code, p.told())
	}
}

func TestKernelPaths(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	for name, text := range map[string]string{
		"pawl.yaml":      "version: 1\nharness: {command: ./h, files: ['k/*.cl']}\nbenchmarks: {softmax: {matrix: {N: [1]}}, matmul: {matrix: {N: [1]}}}\n",
		"bare/pawl.yaml": "version: 1\nharness: {command: ./h}\n",
		"k/common.cl":    "", "k/fast_softmax.cl": "",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	top, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	of := kernelPaths(top)
	for _, tc := range []struct{ suite, benchmark, want string }{
		{"pawl.yaml", "softmax", "k/fast_softmax.cl"},
		{"pawl.yaml", "matmul", "k/common.cl"},
		{"bare/pawl.yaml", "matmul", "bare/pawl.yaml"},
		{"", "matmul", ""},
		{"../elsewhere.yaml", "matmul", ""},
		{"/etc/passwd", "matmul", ""},
	} {
		if got := of(measure.SuiteRef{Path: tc.suite}, tc.benchmark); got != tc.want {
			t.Errorf("%s of %s: %q, want %q", tc.benchmark, tc.suite, got, tc.want)
		}
	}
}
