package daemon

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/goatnote-inc/pawl/internal/base/version"
)

// tracing follows one request from pawl push through the report's transaction to the scan of its project. It
// is off unless traces.endpoint is set. A trace contains no data of a report.
type tracing struct {
	tracer oteltrace.Tracer // nil when off
	stop   func(context.Context) error
}

var traceContext = propagation.TraceContext{}

func newTracing(ctx context.Context, endpoint string, share float64) (*tracing, error) {
	if endpoint == "" {
		return &tracing{stop: func(context.Context) error { return nil }}, nil
	}
	exporter, err := otlptracehttp.New(ctx, otlptracehttp.WithEndpointURL(tracesURL(endpoint)))
	if err != nil {
		return nil, fmt.Errorf("cannot prepare traces for %s: %w", endpoint, err)
	}
	p := trace.NewTracerProvider(
		trace.WithBatcher(exporter),
		trace.WithSampler(trace.TraceIDRatioBased(share)), // by trace id: a trace is complete or absent, whatever the sender wants
		trace.WithResource(resource.NewSchemaless(
			attribute.String("service.name", "pawld"), attribute.String("service.version", version.Version()),
		)),
	)
	return &tracing{tracer: p.Tracer("pawld"), stop: p.Shutdown}, nil
}

// tracesURL returns the address of a collector for traces: OTLP's /v1/traces, unless endpoint has a path.
func tracesURL(endpoint string) string {
	_, rest, _ := strings.Cut(endpoint, "://")
	if strings.Contains(strings.TrimSuffix(rest, "/"), "/") {
		return endpoint
	}
	return strings.TrimSuffix(endpoint, "/") + "/v1/traces"
}

// requests starts a span for each request, within the sender's trace if it names one.
func (t *tracing) requests(inner http.Handler) http.Handler {
	if t.tracer == nil {
		return inner
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx := traceContext.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
		ctx, span := t.tracer.Start(ctx, "request", oteltrace.WithSpanKind(oteltrace.SpanKindServer))
		defer span.End()
		inner.ServeHTTP(w, r.WithContext(ctx))
	})
}

// nameSpan adds route, method and status to the span of a request.
func nameSpan(ctx context.Context, route, method string, status int) {
	span := oteltrace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	span.SetName(method + " " + route)
	span.SetAttributes(attribute.String("http.route", route), attribute.String("http.request.method", method), attribute.Int("http.response.status_code", status))
}

// traceparent returns the current span as text that can outlive the process.
func traceparent(ctx context.Context) string {
	carrier := propagation.MapCarrier{}
	traceContext.Inject(ctx, carrier)
	return carrier["traceparent"]
}

// resume starts a span within the trace that parent names.
func (t *tracing) resume(ctx context.Context, name, parent string) (context.Context, func()) {
	if t.tracer == nil {
		return ctx, func() {}
	}
	ctx = traceContext.Extract(ctx, propagation.MapCarrier{"traceparent": parent})
	ctx, span := t.tracer.Start(ctx, name, oteltrace.WithSpanKind(oteltrace.SpanKindConsumer))
	return ctx, func() { span.End() }
}

// tracedLog adds the trace id to each log line.
type tracedLog struct{ slog.Handler }

func (h tracedLog) Handle(ctx context.Context, r slog.Record) error {
	if c := oteltrace.SpanContextFromContext(ctx); c.HasTraceID() {
		r.AddAttrs(slog.String("trace", c.TraceID().String()))
	}
	return h.Handler.Handle(ctx, r)
}

func (h tracedLog) WithAttrs(a []slog.Attr) slog.Handler { return tracedLog{h.Handler.WithAttrs(a)} }

func (h tracedLog) WithGroup(name string) slog.Handler { return tracedLog{h.Handler.WithGroup(name)} }
