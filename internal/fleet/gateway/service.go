package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	namespacepb "go.temporal.io/api/namespace/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
)

// service forwards requests of agents. It writes every request to Temporal anew, from the fields it has checked, so that a field that
// it does not know cannot pass.
type service struct {
	workflowservice.UnimplementedWorkflowServiceServer
	g *Gateway
}

// caller is the agent behind a request.
type caller struct {
	Agent
	key    [sha256.Size]byte
	remote string
	says   job.Host // of its host
}

type callerKey struct{}

func withCaller(ctx context.Context, c caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

func callerOf(ctx context.Context) caller {
	c, _ := ctx.Value(callerKey{}).(caller)
	return c
}

// grace is how long after the end of a lease its files are served: an agent that was cut off delivers late.
const grace = 24 * time.Hour

func (s *service) refuse(ctx context.Context, method, reason string, code codes.Code) error {
	c := callerOf(ctx)
	s.g.refuse(ctx, Refusal{Agent: c.ID, Remote: c.remote, Method: method, Reason: reason})
	return status.Error(code, reason)
}

func (s *service) checkNamespace(ctx context.Context, method, namespace string) error {
	if namespace != s.g.o.Namespace {
		return s.refuse(ctx, method, "another namespace", codes.PermissionDenied)
	}
	return nil
}

// GetSystemInfo returns what the server can do. It says nothing about workflows.
func (s *service) GetSystemInfo(ctx context.Context, _ *workflowservice.GetSystemInfoRequest) (*workflowservice.GetSystemInfoResponse, error) {
	return s.g.o.Temporal.GetSystemInfo(ctx, &workflowservice.GetSystemInfoRequest{})
}

// DescribeNamespace tells a starting worker that its namespace exists, and nothing else about it.
func (s *service) DescribeNamespace(ctx context.Context, in *workflowservice.DescribeNamespaceRequest) (*workflowservice.DescribeNamespaceResponse, error) {
	if err := s.checkNamespace(ctx, "DescribeNamespace", in.GetNamespace()); err != nil {
		return nil, err
	}
	return &workflowservice.DescribeNamespaceResponse{
		NamespaceInfo: &namespacepb.NamespaceInfo{Name: s.g.o.Namespace, State: enumspb.NAMESPACE_STATE_REGISTERED},
	}, nil
}

// ShutdownWorker answers a worker that stops. Its polls end with their connections, so Temporal need not know.
func (s *service) ShutdownWorker(ctx context.Context, in *workflowservice.ShutdownWorkerRequest) (*workflowservice.ShutdownWorkerResponse, error) {
	if err := s.checkNamespace(ctx, "ShutdownWorker", in.GetNamespace()); err != nil {
		return nil, err
	}
	return &workflowservice.ShutdownWorkerResponse{}, nil
}

// PollActivityTaskQueue waits for a lease on a device of the agent, or for a build of one.
func (s *service) PollActivityTaskQueue(ctx context.Context, in *workflowservice.PollActivityTaskQueueRequest) (*workflowservice.PollActivityTaskQueueResponse, error) {
	const method = "PollActivityTaskQueue"
	if err := s.checkNamespace(ctx, method, in.GetNamespace()); err != nil {
		return nil, err
	}
	queue := in.GetTaskQueue().GetName()
	c, err := s.describe(ctx, callerOf(ctx), queue)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(c.Queues, queue) {
		return nil, s.refuse(ctx, method, fmt.Sprintf("the queue %.100q of another agent", queue), codes.PermissionDenied)
	}
	out, err := s.g.o.Temporal.PollActivityTaskQueue(ctx, &workflowservice.PollActivityTaskQueueRequest{
		Namespace: s.g.o.Namespace, TaskQueue: &taskqueuepb.TaskQueue{Name: queue, Kind: enumspb.TASK_QUEUE_KIND_NORMAL}, Identity: c.identity(),
	})
	if err != nil {
		return nil, err
	}
	if len(out.GetTaskToken()) == 0 {
		return &workflowservice.PollActivityTaskQueueResponse{}, nil
	}
	switch _, err := s.g.o.Keys.Agent(ctx, c.key); { // a poll waits for a minute: the key may be revoked by now
	case errors.Is(err, ErrUnknown):
		return nil, s.refuse(ctx, method, "the key was revoked during the poll", codes.Unauthenticated)
	case err != nil:
		s.g.o.Log.ErrorContext(ctx, "cannot check the key of an agent: its lease times out", "agent", c.ID, "error", err)
		return nil, status.Error(codes.Unavailable, "keys cannot be checked now")
	}
	return s.hand(ctx, c, queue, out)
}

// describe records what an agent says of its host if that is new. The queue of a host that only builds follows from it.
func (s *service) describe(ctx context.Context, c caller, queue string) (caller, error) {
	if c.says == c.Host || !c.says.Valid() {
		return c, nil
	}
	if !s.g.mayDescribe(c.ID) {
		if slices.Contains(c.Queues, queue) {
			return c, nil
		}
		return c, status.Error(codes.ResourceExhausted, "the host was described a moment ago: try again later")
	}
	a, err := s.g.o.Keys.Describe(ctx, c.Agent, c.says)
	if err != nil {
		s.g.o.Log.ErrorContext(ctx, "cannot record what an agent says of its host", "agent", c.ID, "error", err)
		return c, status.Error(codes.Unavailable, "hosts cannot be described now")
	}
	c.Agent = a
	return c, nil
}

// hand gives a task to an agent: what its SDK needs, with a sealed token.
func (s *service) hand(ctx context.Context, c caller, queue string, out *workflowservice.PollActivityTaskQueueResponse) (*workflowservice.PollActivityTaskQueueResponse, error) {
	lease, err := leaseOf(out, queue)
	if err == nil {
		if err := s.takeOnly(ctx, c, lease); err != nil {
			return nil, err
		}
		until := s.g.o.Now().Add(time.Duration(lease.Seconds)*time.Second + grace)
		out.TaskToken, err = s.g.sealer.seal(c.ID, grant{
			Lease: lease.ID, Token: out.GetTaskToken(), Project: lease.Project, Bundle: lease.Bundle, Builds: lease.Builds,
			Builder: lease.Elsewhere(), Until: until.Unix(),
		})
	}
	if err != nil {
		s.g.o.Log.ErrorContext(ctx, "a task on the queue of a device is not a lease", "queue", queue, "workflow", out.GetWorkflowExecution().GetWorkflowId(), "error", err)
		return nil, status.Error(codes.Internal, "the task is not a lease of this device")
	}
	return &workflowservice.PollActivityTaskQueueResponse{
		TaskToken: out.GetTaskToken(), WorkflowNamespace: out.GetWorkflowNamespace(), WorkflowType: out.GetWorkflowType(),
		WorkflowExecution: out.GetWorkflowExecution(), ActivityType: out.GetActivityType(), ActivityId: out.GetActivityId(), Input: out.GetInput(),
		ScheduledTime: out.GetScheduledTime(), CurrentAttemptScheduledTime: out.GetCurrentAttemptScheduledTime(), StartedTime: out.GetStartedTime(),
		Attempt: out.GetAttempt(), ScheduleToCloseTimeout: out.GetScheduleToCloseTimeout(), StartToCloseTimeout: out.GetStartToCloseTimeout(),
		HeartbeatTimeout: out.GetHeartbeatTimeout(), RetryPolicy: out.GetRetryPolicy(),
	}, nil
}

// takeOnly lets a host of unknown code take one lease. What ran there may have copied the key, which must not give another one.
func (s *service) takeOnly(ctx context.Context, c caller, lease job.Lease) error {
	if c.Tier != tier.Unknown {
		return nil
	}
	switch err := s.g.o.Keys.TakeOnly(ctx, c.Agent, lease.ID); {
	case errors.Is(err, ErrUnknown):
		return s.refuse(ctx, "PollActivityTaskQueue", fmt.Sprintf("lease %.100q: its host has taken its one lease", lease.ID), codes.PermissionDenied)
	case err != nil:
		s.g.o.Log.ErrorContext(ctx, "cannot record the lease of a host of unknown code: it times out", "agent", c.ID, "lease", lease.ID, "error", err)
		return status.Error(codes.Unavailable, "leases cannot be recorded now")
	}
	return nil
}

// leaseOf reads the lease in a task's input.
func leaseOf(out *workflowservice.PollActivityTaskQueueResponse, queue string) (job.Lease, error) {
	var lease job.Lease
	payloads := out.GetInput().GetPayloads()
	if len(payloads) != 1 {
		return lease, fmt.Errorf("it has %d arguments, want 1", len(payloads))
	}
	if err := json.Unmarshal(payloads[0].GetData(), &lease); err != nil {
		return lease, fmt.Errorf("cannot read the lease: %w", err)
	}
	if lease.Queue() != queue {
		return lease, fmt.Errorf("lease %.60q is for the queue %.60q", lease.ID, lease.Queue())
	}
	if name := out.GetActivityType().GetName(); name != lease.Activity() {
		return lease, fmt.Errorf("lease %.60q is not for the activity %.60q", lease.ID, name)
	}
	return lease, nil
}

// RecordActivityTaskHeartbeat forwards a heartbeat. The answer says whether the lease was canceled.
func (s *service) RecordActivityTaskHeartbeat(ctx context.Context, in *workflowservice.RecordActivityTaskHeartbeatRequest) (*workflowservice.RecordActivityTaskHeartbeatResponse, error) {
	g, err := s.task(ctx, "RecordActivityTaskHeartbeat", in.GetNamespace(), in.GetTaskToken(), in.GetDetails(), maxDetails)
	if err != nil {
		return nil, err
	}
	return s.g.o.Temporal.RecordActivityTaskHeartbeat(ctx, &workflowservice.RecordActivityTaskHeartbeatRequest{
		Namespace: s.g.o.Namespace, TaskToken: g.Token, Details: in.GetDetails(), Identity: callerOf(ctx).identity(),
	})
}

// RespondActivityTaskCompleted forwards a result.
func (s *service) RespondActivityTaskCompleted(ctx context.Context, in *workflowservice.RespondActivityTaskCompletedRequest) (*workflowservice.RespondActivityTaskCompletedResponse, error) {
	g, err := s.task(ctx, "RespondActivityTaskCompleted", in.GetNamespace(), in.GetTaskToken(), in.GetResult(), maxOutcome)
	if err != nil {
		return nil, err
	}
	return s.g.o.Temporal.RespondActivityTaskCompleted(ctx, &workflowservice.RespondActivityTaskCompletedRequest{
		Namespace: s.g.o.Namespace, TaskToken: g.Token, Result: in.GetResult(), Identity: callerOf(ctx).identity(),
	})
}

// RespondActivityTaskFailed forwards a failure.
func (s *service) RespondActivityTaskFailed(ctx context.Context, in *workflowservice.RespondActivityTaskFailedRequest) (*workflowservice.RespondActivityTaskFailedResponse, error) {
	g, err := s.task(ctx, "RespondActivityTaskFailed", in.GetNamespace(), in.GetTaskToken(), in.GetFailure(), maxOutcome)
	if err != nil {
		return nil, err
	}
	_, err = s.g.o.Temporal.RespondActivityTaskFailed(ctx, &workflowservice.RespondActivityTaskFailedRequest{
		Namespace: s.g.o.Namespace, TaskToken: g.Token, Failure: in.GetFailure(), Identity: callerOf(ctx).identity(),
	})
	return &workflowservice.RespondActivityTaskFailedResponse{}, err
}

// RespondActivityTaskCanceled forwards that a canceled measurement has stopped.
func (s *service) RespondActivityTaskCanceled(ctx context.Context, in *workflowservice.RespondActivityTaskCanceledRequest) (*workflowservice.RespondActivityTaskCanceledResponse, error) {
	g, err := s.task(ctx, "RespondActivityTaskCanceled", in.GetNamespace(), in.GetTaskToken(), in.GetDetails(), maxDetails)
	if err != nil {
		return nil, err
	}
	return s.g.o.Temporal.RespondActivityTaskCanceled(ctx, &workflowservice.RespondActivityTaskCanceledRequest{
		Namespace: s.g.o.Namespace, TaskToken: g.Token, Details: in.GetDetails(), Identity: callerOf(ctx).identity(),
	})
}

// task checks a request about a task and opens its token. A token that does not open is answered like a task that does not exist, so that
// an agent that holds a token from before a change of the secret gives it up.
func (s *service) task(ctx context.Context, method, namespace string, token []byte, content proto.Message, limit int) (grant, error) {
	if err := s.checkNamespace(ctx, method, namespace); err != nil {
		return grant{}, err
	}
	if n := proto.Size(content); n > limit {
		return grant{}, s.refuse(ctx, method, fmt.Sprintf("%d bytes, the limit is %d", n, limit), codes.InvalidArgument)
	}
	g, err := s.g.sealer.open(callerOf(ctx).ID, token)
	if err != nil {
		return grant{}, s.refuse(ctx, method, fmt.Sprintf("%s (lease %.100q)", err, g.Lease), codes.NotFound)
	}
	return g, nil
}

// identity is the name of the agent in Temporal's histories. It is not the agent's choice.
func (c caller) identity() string { return "agent:" + c.ID }
