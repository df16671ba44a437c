package agent

import (
	"crypto/sha256"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	temporallog "go.temporal.io/sdk/log"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/types/known/durationpb"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/fleet/gateway"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
)

// temporalConfig is a Temporal in one process on SQLite. Its parameters are four ports for gRPC, four for membership, and the database.
const temporalConfig = `
log: {stdout: true, level: warn}
persistence:
  defaultStore: d
  visibilityStore: d
  numHistoryShards: 1
  datastores:
    d: {sql: {pluginName: sqlite, databaseName: %[9]q, connectAddr: localhost, connectProtocol: tcp, connectAttributes: {cache: private, setup: "true", journal_mode: wal, synchronous: "1"}, maxConns: 1, maxIdleConns: 1}}
global:
  membership: {maxJoinDuration: 30s, broadcastAddress: "127.0.0.1"}
services:
  frontend: {rpc: {grpcPort: %[1]d, membershipPort: %[5]d, bindOnLocalHost: true}}
  matching: {rpc: {grpcPort: %[2]d, membershipPort: %[6]d, bindOnLocalHost: true}}
  history:  {rpc: {grpcPort: %[3]d, membershipPort: %[7]d, bindOnLocalHost: true}}
  worker:   {rpc: {grpcPort: %[4]d, membershipPort: %[8]d, bindOnLocalHost: true}}
clusterMetadata:
  {enableGlobalNamespace: false, failoverVersionIncrement: 10, masterClusterName: active, currentClusterName: active,
   clusterInformation: {active: {enabled: true, initialFailoverVersion: 1, rpcName: frontend, rpcAddress: "127.0.0.1:%[1]d"}}}
dcRedirectionPolicy: {policy: noop}
`

// startTemporal starts the installed Temporal, and returns a client for a new namespace, and the process.
func startTemporal(t *testing.T, namespace string) (client.Client, *os.Process) {
	t.Helper()
	program, err := exec.LookPath("temporal-server")
	if err != nil {
		t.Skip("no temporal-server in PATH")
	}
	dir := t.TempDir()
	var ports []any
	var held []net.Listener
	for range 8 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ports, held = append(ports, l.Addr().(*net.TCPAddr).Port), append(held, l)
	}
	for _, l := range held {
		l.Close()
	}
	if err := os.WriteFile(filepath.Join(dir, "test.yaml"), fmt.Appendf(nil, temporalConfig, append(ports, filepath.Join(dir, "temporal.db"))...), 0o600); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "--root", dir, "--config", ".", "--env", "test", "--allow-no-auth", "start")
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if text, _ := os.ReadFile(log.Name()); t.Failed() {
			t.Logf("Temporal: %s", text[max(0, len(text)-4000):])
		}
	})
	c, err := client.NewLazyClient(client.Options{
		HostPort: fmt.Sprintf("127.0.0.1:%d", ports[0]), Namespace: namespace, Logger: temporallog.NewStructuredLogger(slog.New(slog.DiscardHandler)),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	until(t, "Temporal starts", func() error {
		_, err := c.WorkflowService().RegisterNamespace(t.Context(), &workflowservice.RegisterNamespaceRequest{Namespace: namespace, WorkflowExecutionRetentionPeriod: durationpb.New(24 * time.Hour)})
		if err != nil && strings.Contains(err.Error(), "already") {
			return nil
		}
		return err
	})
	return c, cmd.Process
}

// until repeats do until it succeeds.
func until(t *testing.T, what string, do func() error) {
	t.Helper()
	for end := time.Now().Add(await.Limit); ; time.Sleep(100 * time.Millisecond) {
		err := do()
		if err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// gate is a workflow that builds and measures once.
func gate(ctx workflow.Context, l job.Lease) (r job.Result, err error) {
	for _, l.Build = range []bool{true, false} {
		ctx := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
			TaskQueue: l.Queue(), ScheduleToStartTimeout: time.Minute, StartToCloseTimeout: time.Hour, HeartbeatTimeout: 30 * time.Second,
			WaitForCancellation: true, RetryPolicy: &temporal.RetryPolicy{MaximumAttempts: 1},
		})
		if err = workflow.ExecuteActivity(ctx, l.Activity(), l).Get(ctx, &r); err != nil {
			break
		}
	}
	return r, err
}

// An agent behind a gateway of a real Temporal: a result, a kill in the middle of a measurement, a server that is
// away when it ends, and a cancellation.
func TestServe_RealTemporal(t *testing.T) {
	c, server := startTemporal(t, "pawl-agent-test")
	f := &fleet{world: newWorld(t), parts: &parts{agents: map[[sha256.Size]byte]gateway.Agent{}, files: map[string][]byte{}}}
	for path, text := range f.world.files {
		f.parts.files[strings.TrimPrefix(path, job.BundlePath)] = text
	}
	var w worker.Worker
	until(t, "the worker starts", func() error {
		w = worker.New(c, "gates", worker.Options{})
		w.RegisterWorkflow(gate)
		return w.Start()
	})
	defer w.Stop()
	f.server = serveGateway(t, c.WorkflowService(), "pawl-agent-test", f.parts)
	cmd := f.start(t)
	defer func() { _ = cmd.Process.Kill(); _ = cmd.Wait() }()
	start := func(id string) (job.Lease, client.WorkflowRun) {
		t.Helper()
		l := f.lease
		l.ID = id
		run, err := c.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: id, TaskQueue: "gates"}, gate, l)
		if err != nil {
			t.Fatal(err)
		}
		return l, run
	}
	check := func(l job.Lease, run client.WorkflowRun) {
		t.Helper()
		var r job.Result
		if err := run.Get(t.Context(), &r); err != nil || r.Lease != l.ID || r.Exit != 1 {
			t.Fatalf("%s: result %+v, %v", l.ID, r, err)
		}
		f.checkRounds(t, r)
	}

	check(start("plain"))

	f.hold(t, "2")
	l, run := start("killed")
	f.held(t)
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	if err := os.Remove(filepath.Join(f.dir, "running")); err != nil {
		t.Fatal(err)
	}
	f.hold(t, "")
	cmd = f.start(t)
	check(l, run)

	f.hold(t, "2")
	l, run = start("away")
	f.held(t)
	runs := len(f.lines("runs"))
	if err := server.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	f.hold(t, "")
	until(t, "pawl ends", func() error {
		if exists(filepath.Join(f.dir, "running")) {
			return errAway
		}
		return nil
	})
	time.Sleep(3 * time.Second) // the first tries to deliver fail
	if err := server.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	check(l, run)
	if n := len(f.lines("runs")); n != runs {
		t.Errorf("pawl ran %d times more: the result was lost", n-runs)
	}

	f.hold(t, "2")
	_, run = start("canceled")
	f.held(t)
	before := time.Now()
	if err := c.CancelWorkflow(t.Context(), "canceled", ""); err != nil {
		t.Fatal(err)
	}
	if err := run.Get(t.Context(), nil); !temporal.IsCanceledError(err) {
		t.Errorf("a canceled gate ended with %v", err)
	}
	t.Logf("idle %v after the cancellation", time.Since(before).Round(time.Millisecond))
	if exists(filepath.Join(f.dir, "running")) {
		t.Error("pawl still runs")
	}
	f.parts.mu.Lock()
	defer f.parts.mu.Unlock()
	for _, r := range f.refused {
		t.Errorf("the agent did something that it may not: %+v", r)
	}
}
