// Package fleettest has what tests of the fleet share: a stand-in for Temporal in memory, and the replay of kept histories.
package fleettest

import (
	"context"
	"log/slog"
	"net"
	"path/filepath"
	"testing"

	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/log"
	"go.temporal.io/sdk/worker"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
)

// Silent logs nothing.
var Silent = log.NewStructuredLogger(slog.New(slog.DiscardHandler))

// Temporal serves a stand-in for Temporal until the test ends, and returns a client of it.
func Temporal(t testing.TB, standIn workflowservice.WorkflowServiceServer, options ...grpc.ServerOption) workflowservice.WorkflowServiceClient {
	t.Helper()
	l := bufconn.Listen(1 << 20)
	server := grpc.NewServer(options...)
	workflowservice.RegisterWorkflowServiceServer(server, standIn)
	go func() { _ = server.Serve(l) }() // it fails only when it is stopped
	t.Cleanup(server.Stop)
	conn, err := grpc.NewClient("passthrough:///temporal", grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithUnaryInterceptor(asSDK),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return l.DialContext(ctx) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return workflowservice.NewWorkflowServiceClient(conn)
}

// asSDK returns errors as the client of Temporal's SDK does. They are no statuses of gRPC.
func asSDK(ctx context.Context, method string, in, out any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	return serviceerror.FromStatus(status.Convert(invoke(ctx, method, in, out, conn, options...)))
}

// Replay replays the histories in testdata/history, which earlier versions of the workflows left: gates in flight survive an
// upgrade. A change that breaks this needs workflow.GetVersion. New histories come from TestEngine in
// internal/server/engine with -histories.
func Replay(t *testing.T, register func(worker.WorkflowReplayer)) {
	t.Helper()
	files, err := filepath.Glob("testdata/history/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no histories: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			r := worker.NewWorkflowReplayer()
			register(r)
			if err := r.ReplayWorkflowHistoryFromJSONFile(Silent, file); err != nil {
				t.Error(err)
			}
		})
	}
}
