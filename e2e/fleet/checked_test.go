package fleet

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/measure"
)

// Code of forks and unknown code are gated through OpenCL on PoCL, which stands for a GPU: builds in the sandbox, kernels in pawl's launcher.
func (w *world) testChecked(t *testing.T) {
	if _, err := build.FindSandbox(t.Context()); err != nil {
		t.Skip(err)
	}
	if out, err := exec.CommandContext(t.Context(), "clinfo", "-l").Output(); err != nil || !bytes.Contains(out, []byte("pthread")) {
		t.Skip("no PoCL")
	}
	agent := w.unprotected(t)
	enroll := func(tier, device string) (state string, args []string) {
		t.Helper()
		dir := filepath.Join(w.dir, tier)
		code := w.enroll(t, dir, tier, "--tier", tier)
		state = filepath.Join(dir, "agent")
		return state, []string{"--server", w.gateway, "--state", state, "--code", code, "--device", device, "--model", tier}
	}

	t.Run("checked", func(t *testing.T) {
		state, args := enroll("checked", "opencl:pthread")
		serve := w.startAs("checked", nil, agent, append([]string{"serve"}, args...)...)
		defer func() { _ = serve.Process.Kill() }()
		await.TrueWithin(t, patience, "the host to be in the fleet", func() bool {
			return strings.Contains(w.must(t, "pawl", "fleet", "devices"), "opencl:pthread on")
		})
		r := openCLRepository(t, state)
		stdout, stderr, err := w.run(t, r.dir, "pawl", "run", "--base", "HEAD~1", "--on", "checked", "--trust", "checked")
		r.wantChecked(t, err, stdout+stderr)
	})

	t.Run("unknown", func(t *testing.T) {
		w.must(t, "pawld", "project", "create", "unknown-code")
		w.must(t, "pawld", "fleet", "tier", "unknown-code", "unknown")
		state, args := enroll("unknown", "opencl:pthread@unknown")
		if out, errs, err := w.run(t, w.dir, agent, append([]string{"serve"}, args...)...); err == nil || !strings.Contains(errs, "use pawl-agent once") {
			t.Fatalf("serve for unknown code: %v\n%s%s", err, out, errs)
		}
		r := openCLRepository(t, state)
		g := w.sendGate(t, r, "unknown", "PAWL_PROJECT=unknown-code", w.key(t, "unknown-code"))
		once := func(lease string) (said string, err error) {
			out, errs, err := w.run(t, w.dir, agent, append([]string{"once", "--lease", lease}, args...)...)
			return out + errs, err
		}
		if said, err := once(fmt.Sprintf("unknown-code-%s-unknown-1", g.id)); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		r.wantChecked(t, g.wait(), g.said())
		if said, err := once("another"); err == nil || !strings.Contains(said, "has run unknown code before") {
			t.Errorf("a second lease on a host for one: %v\n%s", err, said)
		}
	})
}

// unprotected returns an agent whose pawl launches OpenCL kernels on a CPU.
func (w *world) unprotected(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(w.dir, "unprotected")
	must(t, os.MkdirAll(dir, 0o700))
	agent := filepath.Join(dir, "pawl-agent")
	must(t, os.Link(filepath.Join(w.bin, "pawl-agent"), agent))
	must(t, os.WriteFile(filepath.Join(dir, "pawl"), fmt.Appendf(nil, "#!/bin/sh\nPAWL_OPENCL_CPU=unprotected exec %s/pawl \"$@\"\n", w.bin), 0o700))
	return agent
}

// openCLRepository is a kernel that does three times the work of its base. Its build fails if it can read the agent's key.
func openCLRepository(t *testing.T, state string) repository {
	t.Helper()
	r := repository{dir: t.TempDir()}
	r.write(t, "pawl.yaml", `version: 1
build: {command: sh build.sh, outputs: [kernel.cl]}
harness: {command: "false"} # no program of the change runs on the host
measure: {timer: device, samples: 10, warmup: 3, rounds: [4]}
benchmarks:
  root:
    matrix: {N: [16384]}
    arguments: {a: {in: f32, shape: [N]}, c: {out: f32, shape: [N]}, n: {value: N, type: i32}}
    launch: {file: kernel.cl, kernel: root, grid: [ceil(N / 64)], block: [64]}
    check: {expression: {c: sqrt(a * a + 1)}, tolerance: {atol: 1e-5, rtol: 1e-5}}
`)
	r.write(t, "build.sh", fmt.Sprintf("if cat %s/agent.json >&2; then exit 1; fi\ncp kernel.in kernel.cl\n", state))
	r.write(t, ".gitignore", "results/\nkernel.cl\n")
	r.git(t, "init", "-q", "-b", "main")
	for _, steps := range []int{12, 36} {
		r.write(t, "kernel.in", fmt.Sprintf(`kernel void root(global const float *a, global float *c, int n) {
  int i = get_global_id(0);
  if (i >= n) return;
  float x = a[i] * a[i] + 1, r = x;
  for (int k = 0; k < %d; k++) r = 0.5f * (r + x / r);
  c[i] = r;
}
`, steps))
		r.commit(t, fmt.Sprint(steps))
	}
	return r
}

// wantChecked wants rounds at the level checked. On a busy machine four of them may give no answer.
func (r repository) wantChecked(t *testing.T, err error, said string) {
	t.Helper()
	results := filepath.Join(r.dir, "results")
	if code, verdict := exitCode(t, err), verdictOf(t, results); verdict != map[int]string{1: "regression", 2: "inconclusive"}[code] {
		text, _ := os.ReadFile(filepath.Join(results, "ratchet_report.md"))
		t.Fatalf("exit code %d, verdict %s\n%s\n%s", code, verdict, said, text)
	}
	run, err := measure.Load(filepath.Join(results, "current.json"))
	must(t, err)
	if run.Trust != measure.Checked || len(run.Implementations) != 2 || len(run.Rounds) != 4 {
		t.Fatalf("trust %q, %d rounds, sides %+v", run.Trust, len(run.Rounds), run.Implementations)
	}
	for _, i := range run.Implementations {
		if !i.Build.Sandboxed {
			t.Errorf("%s was built as %+v, want it in the sandbox", i.Name, i.Build)
		}
	}
}
