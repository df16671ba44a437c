package engine

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/operatorservice/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/types/known/durationpb"
)

// retention is how long Temporal keeps the history of an ended workflow. Results are in pawld's own tables.
const retention = 72 * time.Hour

// Versions of Temporal's server that were tried: 1.first to 1.last.
const first, last = 29, 32

// Setup creates the namespace and its search attributes if they are missing, and returns what it did.
func (e *Engine) Setup(ctx context.Context) (did []string, err error) {
	_, err = e.client.WorkflowService().RegisterNamespace(ctx, &workflowservice.RegisterNamespaceRequest{
		Namespace: e.o.Namespace, Description: "gates of pawl", WorkflowExecutionRetentionPeriod: durationpb.New(retention),
	})
	if _, exists := errors.AsType[*serviceerror.NamespaceAlreadyExists](err); exists {
		did = append(did, fmt.Sprintf("namespace %s exists", e.o.Namespace))
	} else if err != nil {
		return did, fmt.Errorf("cannot create namespace %s: %w", e.o.Namespace, err)
	} else {
		did = append(did, fmt.Sprintf("created namespace %s", e.o.Namespace))
	}
	name := projectAttribute.GetName()
	known, err := e.attributes(ctx)
	if err != nil {
		return did, err
	}
	if _, ok := known[name]; ok {
		return append(did, fmt.Sprintf("search attribute %s exists", name)), nil
	}
	_, err = e.client.OperatorService().AddSearchAttributes(ctx, &operatorservice.AddSearchAttributesRequest{
		Namespace: e.o.Namespace, SearchAttributes: map[string]enums.IndexedValueType{name: enums.INDEXED_VALUE_TYPE_KEYWORD},
	})
	if err != nil {
		return did, fmt.Errorf("cannot create search attribute %s: %w", name, err)
	}
	return append(did, fmt.Sprintf("created search attribute %s", name)), nil
}

// attributes returns the search attributes of the namespace. A new namespace is known to all parts of Temporal after
// some seconds; until then it waits.
func (e *Engine) attributes(ctx context.Context) (map[string]enums.IndexedValueType, error) {
	for {
		list, err := e.client.OperatorService().ListSearchAttributes(ctx, &operatorservice.ListSearchAttributesRequest{Namespace: e.o.Namespace})
		if err == nil {
			return list.GetCustomAttributes(), nil
		}
		_, missing := errors.AsType[*serviceerror.NamespaceNotFound](err)
		if !missing {
			return nil, fmt.Errorf("cannot list search attributes: %w", err)
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("cannot list search attributes: %w", err)
		case <-time.After(time.Second):
		}
	}
}

// A Finding is the result of one check.
type Finding struct {
	What string
	Err  error // nil if it is as it should be
}

// Check reports whether gates can run: Temporal answers, its version was tried, and the namespace is prepared.
func (e *Engine) Check(ctx context.Context) []Finding {
	what := "Temporal at " + e.o.Address
	info, err := e.client.WorkflowService().GetSystemInfo(ctx, &workflowservice.GetSystemInfoRequest{})
	if err != nil {
		return []Finding{{what, fmt.Errorf("%w: start it, or change fleet.address", err)}}
	}
	list := []Finding{{what + ", version " + info.GetServerVersion(), tried(info.GetServerVersion())}}
	space, err := e.client.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: e.o.Namespace})
	if err != nil {
		return append(list, Finding{"namespace " + e.o.Namespace, fmt.Errorf("%w: run `pawld fleet setup`", err)})
	}
	if kept := space.GetConfig().GetWorkflowExecutionRetentionTtl().AsDuration(); kept < 24*time.Hour {
		err = fmt.Errorf("it keeps ended workflows for %v: 24 hours or more are needed to look at a failed gate", kept)
	}
	list = append(list, Finding{"namespace " + e.o.Namespace, err})
	known, err := e.attributes(ctx)
	if err == nil && known[projectAttribute.GetName()] != enums.INDEXED_VALUE_TYPE_KEYWORD {
		err = errors.New("it is missing: run `pawld fleet setup`")
	}
	return append(list, Finding{"search attribute " + projectAttribute.GetName(), err})
}

// tried returns an error for a version of Temporal that pawl was not tried with.
func tried(version string) error {
	if n, err := minorOf(version); err == nil && n >= first && n <= last {
		return nil
	}
	return fmt.Errorf("version %.40q was not tried: use 1.%d to 1.%d", version, first, last)
}

// minorOf returns N of the version 1.N.P.
func minorOf(version string) (int, error) {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) == 3 && parts[0] == "1" {
		if n, err := strconv.Atoi(parts[1]); err == nil {
			return n, nil
		}
	}
	return 0, fmt.Errorf("%.40q is not a version such as 1.%d.0", version, last)
}
