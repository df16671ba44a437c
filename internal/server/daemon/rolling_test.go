package daemon

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/demo"
)

// balancer sends requests in turn to those that say they are ready.
type balancer struct {
	mu    sync.Mutex
	all   []*url.URL
	ready []*url.URL
	turn  int
	proxy httputil.ReverseProxy
}

type chosen struct{}

func newBalancer(ctx context.Context) *balancer {
	b := &balancer{}
	b.proxy = httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(r.In.Context().Value(chosen{}).(*url.URL)) },
		Transport: &http.Transport{MaxIdleConnsPerHost: 8},
	}
	go func() {
		for ctx.Err() == nil {
			b.ask(ctx)
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return b
}

func (b *balancer) ask(ctx context.Context) {
	b.mu.Lock()
	all := slices.Clone(b.all)
	b.mu.Unlock()
	var ready []*url.URL
	for _, u := range all {
		ctx, cancel := context.WithTimeout(ctx, await.Limit)
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String()+"/readyz", http.NoBody)
		if err == nil {
			if resp, err := http.DefaultClient.Do(req); err == nil {
				_ = resp.Body.Close()
				if resp.StatusCode == http.StatusOK {
					ready = append(ready, u)
				}
			}
		}
		cancel()
	}
	b.mu.Lock()
	b.ready = ready
	b.mu.Unlock()
}

func (b *balancer) add(address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = append(b.all, &url.URL{Scheme: "http", Host: address})
}

func (b *balancer) remove(address string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all = slices.DeleteFunc(b.all, func(u *url.URL) bool { return u.Host == address })
}

func (b *balancer) has(address string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.ContainsFunc(b.ready, func(u *url.URL) bool { return u.Host == address })
}

func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	if len(b.ready) == 0 {
		b.mu.Unlock()
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	b.turn++
	u := b.ready[b.turn%len(b.ready)]
	b.mu.Unlock()
	b.proxy.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), chosen{}, u)))
}

// Servers can be restarted one after the other, and who asks does not notice: of 1,000
// requests across five restarts none fails in a way that cannot be tried again.
func TestRollingRestart(t *testing.T) {
	t.Parallel()
	o := newOperated(t)
	o.want(0, nil, "migrate")
	o.want(0, nil, "project", "create", "kernels", "--public")
	key := strings.TrimSpace(o.want(0, nil, "key", "create", "kernels", "--scope", "report:main"))
	b := newBalancer(t.Context())
	front := httptest.NewServer(b)
	defer front.Close()
	start := func() *process {
		p := startServe(t, o.url, append(o.env, "PAWLD_SHUTDOWN_DELAY=500ms", "PAWLD_LOG_LEVEL=info")...)
		b.add(p.Address)
		await.True(t, "the balancer to see the server", func() bool { return b.has(p.Address) })
		return p
	}
	running := []*process{start(), start()}

	var restarts, asked, later atomic.Int64
	var failures sync.Map
	fail := func(what string) { failures.Store(what, true) }
	reports := make(chan *client.Report)
	var group sync.WaitGroup
	done := func() bool { return restarts.Load() >= 5 && asked.Load() >= 1000 }
	group.Go(func() {
		defer close(reports)
		for r := range demo.Year(5, demo.Size{Configs: 1}) {
			if done() {
				return
			}
			if r.Pull == 0 {
				reports <- r
			}
		}
	})
	sent := map[string]bool{}
	group.Go(func() {
		for r := range reports {
			if err := push(t.Context(), front.URL, key, r); err != nil {
				fail(err.Error())
				continue
			}
			sent[r.Run] = true
			asked.Add(1)
		}
	})
	for range 3 {
		group.Go(func() {
			hc := &http.Client{Timeout: await.Limit}
			for !done() {
				code, text := get(t, hc, front.URL+"/v1/projects/kernels/series?limit=5")
				asked.Add(1)
				switch code {
				case 200:
				case 429, 502, 503, 0:
					later.Add(1)
					time.Sleep(100 * time.Millisecond)
				default:
					fail(text)
				}
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	for i := range 5 {
		old := running[i%2]
		old.signal(t, syscall.SIGTERM)
		if code := old.code(t); code != 0 {
			t.Errorf("restart %d: it exits with %d", i, code)
		}
		b.remove(old.Address)
		running[i%2] = start()
		restarts.Add(1)
	}
	group.Wait()
	failures.Range(func(what, _ any) bool { t.Errorf("a request failed for good: %v", what); return true })
	t.Logf("%d requests, %d reports among them, %d had to be tried again", asked.Load(), len(sent), later.Load())
	kept := keptRuns(t, front.URL)
	for run := range sent {
		if kept[run] != 1 {
			t.Errorf("run %s was acknowledged and is kept %d times", run, kept[run])
		}
	}
}

// keptRuns counts how often a server lists each run.
func keptRuns(t *testing.T, server string) map[string]int {
	t.Helper()
	kept := map[string]int{}
	for next := "start"; next != ""; {
		address := server + "/v1/projects/kernels/runs"
		if next != "start" {
			address += "?cursor=" + next
		}
		var page struct {
			Items []client.Run
			Next  string
		}
		getJSON(t, address, &page)
		for _, r := range page.Items {
			kept[r.Run]++
		}
		next = page.Next
	}
	return kept
}

func getJSON(t *testing.T, address string, into any) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	if err := json.NewDecoder(a.Body).Decode(into); err != nil || a.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %v", address, a.Status, err)
	}
}
