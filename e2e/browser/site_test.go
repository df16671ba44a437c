// The dashboard in a real browser, over a real server and a real PostgreSQL. What the
// browser does is written in the .mjs files beside this; what it finds is told here.
package browser_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server"
	"github.com/goatnote-inc/pawl/internal/server/alert"
	"github.com/goatnote-inc/pawl/internal/server/blob"
	"github.com/goatnote-inc/pawl/internal/server/demo"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
	"github.com/goatnote-inc/pawl/measure"
)

func TestMain(m *testing.M) {
	code := m.Run()
	storetest.Stop()
	os.Exit(code)
}

// now is when the tests take place: right after the made-up year.
var now = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

// site is a server with one public project.
type site struct {
	url     string
	store   *store.Store
	blobs   *blob.Bucket
	project store.Project
	queues  fleetQueues
}

func newSite(t *testing.T) *site {
	t.Helper()
	ctx := t.Context()
	st, err := store.Open(ctx, store.Config{URL: storetest.URL(t), AllowUnsafe: true, Now: func() time.Time { return now }}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(st.Close)
	blobs, err := blob.Open(ctx, "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &site{store: st, blobs: blobs, queues: fleetQueues{}}
	s.project, err = st.CreateProject(ctx, store.Project{Project: client.Project{
		Slug: "kernels", Name: "Kernels", Public: true, Repository: "https://forge.example/demo/kernels", Branch: "main",
	}})
	if err != nil {
		t.Fatal(err)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:"+port())
	if err != nil {
		t.Fatal(err)
	}
	s.url = "http://" + listener.Addr().String()
	web, err := server.New(server.Config{
		Store: st, Blobs: blobs, Fleet: s.queues, URL: s.url, Now: func() time.Time { return now },
		Limits: server.Limits{PerAddress: server.Rate{PerSecond: 1e6, Burst: 1e6}, PerProject: server.Rate{PerSecond: 1e6, Burst: 1e6}},
	})
	if err != nil {
		t.Fatal(err)
	}
	serve := &http.Server{Handler: web.Handler(), ReadHeaderTimeout: time.Minute}
	go func() {
		if err := serve.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			t.Errorf("serve: %v", err)
		}
	}()
	t.Cleanup(func() { _ = serve.Close() })
	return s
}

// port is where to listen; any, unless somebody wants to look.
func port() string {
	if p := os.Getenv("PAWL_LOOK"); p != "" {
		return p
	}
	return "0"
}

// fill keeps a made-up year and looks at it.
func (s *site) fill(t *testing.T, size demo.Size) {
	t.Helper()
	size.End = now
	s.ingestAll(t, func(yield func(*client.Report) bool) {
		for r := range demo.Year(7, size) {
			if r.Measured.After(now.AddDate(0, 0, -20)) { // later runs come whole
				s.send(t, r)
			}
			if !yield(r) {
				return
			}
		}
	})
	s.look(t)
}

// send keeps the files of a report.
func (s *site) send(t *testing.T, r *client.Report) {
	t.Helper()
	s.sendFiles(t, r, demo.Record(r))
}

func (s *site) sendFiles(t *testing.T, r *client.Report, run *measure.Run) {
	t.Helper()
	files, err := demo.FilesOf(r, run)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := s.blobs.Put(t.Context(), s.project.ID, f.Digest, bytes.NewReader(f.Data), f.Size); err != nil {
			t.Fatal(err)
		}
		if _, err := s.store.AddBlob(t.Context(), s.project.ID, f.Digest, f.Size, client.Main); err != nil {
			t.Fatal(err)
		}
	}
}

// ingestAll keeps reports: the first by themselves, so that testbeds have the same numbers
// every time, then several at once.
func (s *site) ingestAll(t *testing.T, reports iter.Seq[*client.Report]) {
	t.Helper()
	group, ctx := errgroup.WithContext(t.Context())
	group.SetLimit(4)
	n := 0
	for r := range reports {
		if n++; n <= 12 {
			s.ingest(t, r)
			continue
		}
		group.Go(func() error {
			_, err := s.keep(ctx, r)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

func (s *site) look(t *testing.T) {
	t.Helper()
	if _, err := alert.Scan(t.Context(), s.store, s.project.ID); err != nil {
		t.Fatal(err)
	}
}

func (s *site) ingest(t *testing.T, r *client.Report) client.Receipt {
	t.Helper()
	receipt, err := s.keep(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return receipt
}

func (s *site) keep(ctx context.Context, r *client.Report) (client.Receipt, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return client.Receipt{}, err
	}
	lane := client.Main
	switch {
	case r.Trust == measure.SelfTimed:
		lane = client.Fork
	case r.Pull > 0:
		lane = client.Branch
	}
	return s.store.Ingest(ctx, s.project.ID, store.Incoming{Key: client.Key(r), Body: sha256.Sum256(body), Report: r, Lane: lane, Sender: map[string]string{"key": "ci"}})
}

// finding is what the browser tells of one thing it looked at.
type finding struct {
	Name     string             `json:"name"`
	Problems []string           `json:"problems"`
	Figures  map[string]float64 `json:"figures"`
}

// browse runs a script in node with what it asks for, and gives what it found.
func browse(t *testing.T, script string, ask map[string]any) []finding {
	t.Helper()
	modules := os.Getenv("PAWL_BROWSER_MODULES")
	if modules == "" {
		if cache, err := os.UserCacheDir(); err == nil {
			modules = filepath.Join(cache, "pawl-ci", "browser")
		}
	}
	if _, err := os.Stat(filepath.Join(modules, "node_modules", "playwright-core")); err != nil {
		t.Skip("there is no playwright-core: scripts/browser-modules fetches it, PAWL_BROWSER_MODULES says where it is")
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium here")
	}
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node here")
	}
	ask["modules"], ask["chromium"] = modules, chromium
	text, err := json.Marshal(ask)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 9*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, node, script)
	cmd.Stdin = strings.NewReader(string(text))
	var errs strings.Builder
	cmd.Stderr = &errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a browser is many processes: they end together
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", script, err, errs.String())
	}
	var found []finding
	if err := json.Unmarshal(out, &found); err != nil {
		t.Fatalf("%s: %v\n%s", script, err, out)
	}
	return found
}

// tell makes a subtest of each finding.
func tell(t *testing.T, found []finding) {
	t.Helper()
	if len(found) == 0 {
		t.Error("the browser looked at nothing")
	}
	for _, f := range found {
		t.Run(f.Name, func(t *testing.T) {
			for _, p := range f.Problems {
				t.Error(p)
			}
			if len(f.Figures) > 0 {
				t.Log(f.Figures)
			}
		})
	}
}

// fetch is a page as it comes.
func fetch(t *testing.T, address string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode >= 500 {
		t.Fatalf("%s: %d %v", address, answer.StatusCode, err)
	}
	return string(body)
}

func p95(list []float64) float64 {
	slices.Sort(list)
	return list[len(list)*95/100]
}
