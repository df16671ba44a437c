package daemon

import (
	"bytes"
	"context"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/demo"
	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
)

// spans collects what is sent as OTLP.
type spans struct {
	mu    sync.Mutex
	trace map[string][]string // names of spans by the id of their trace
	raw   bytes.Buffer
}

func (s *spans) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var sent collector.ExportTraceServiceRequest
	if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &sent) != nil {
		http.Error(w, "no spans", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.raw.Write(body)
	for _, resource := range sent.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				id := hex.EncodeToString(span.TraceId)
				s.trace[id] = append(s.trace[id], span.Name)
			}
		}
	}
}

func (s *spans) of(trace string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.trace[trace]
}

// One trace leads from what pawl push sends to the look at it, through a queue.
func TestTraceOfAReport(t *testing.T) {
	t.Parallel()
	got := &spans{trace: map[string][]string{}}
	where := httptest.NewServer(got)
	defer where.Close()
	url := storetest.URL(t)
	o := &operated{t: t, env: []string{"PAWLD_DATABASE_URL=" + url, "PAWLD_DATABASE_ALLOW_UNSAFE=true"}}
	o.want(0, nil, "migrate")
	o.want(0, nil, "project", "create", "kernels")
	key := strings.TrimSpace(o.want(0, nil, "key", "create", "kernels", "--scope", "report:main"))
	p := startServe(t, url, "PAWLD_TRACES_ENDPOINT="+where.URL)
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(t.Context()))

	for report := range demo.Year(1, demo.Size{Days: 3, Configs: 1}) {
		if report.Pull > 0 {
			continue
		}
		if err := push(t.Context(), "http://"+p.Address, key, report); err != nil {
			t.Fatal(err)
		}
		trace := client.Key(report)[:32]
		p.wait(t, func(line map[string]any) bool { return line["trace"] == trace && line["status"] == 201.0 })
		await.True(t, "the look at the report", func() bool { // a look that a sweep started has no trace
			var ended int
			err := conn.QueryRow(t.Context(), `select count(*) from river.river_job where kind = 'look' and state = 'completed' and args ? 'trace'`).Scan(&ended)
			if err != nil {
				t.Fatal(err)
			}
			return ended == 1
		})
		p.signal(t, syscall.SIGTERM) // sends what it has
		if code := p.code(t); code != 0 {
			t.Errorf("it exits with %d", code)
		}
		names := strings.Join(got.of(trace), ", ")
		if !strings.Contains(names, "POST /v1/projects/{project}/reports") || !strings.Contains(names, "look") {
			t.Errorf("the trace of the report has %q", names)
		}
		if strings.Contains(got.raw.String(), key) || strings.Contains(got.raw.String(), report.Points[0].Benchmark) {
			t.Error("a trace tells what is in a report, or a key")
		}
		return
	}
}

// push sends a report as pawl push does.
func push(ctx context.Context, server, key string, report *client.Report) error {
	body, err := client.Encode(report)
	if err != nil {
		return err
	}
	c := client.Client{
		URL: server, Project: "kernels",
		Token: func(context.Context, string) (string, error) { return key, nil },
		Now:   time.Now,
		Sleep: func(_ context.Context, d time.Duration) error { time.Sleep(d); return nil },
	}
	_, err = c.Push(ctx, &client.Spooled{Run: report.Run, Key: client.Key(report), Body: body})
	return err
}
