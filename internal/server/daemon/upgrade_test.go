package daemon

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/demo"
)

// pushing sends reports without a pause until it is ended.
type pushing struct {
	group sync.WaitGroup
	end   context.CancelFunc

	mu     sync.Mutex
	sent   []string
	failed error
}

func startPushing(t *testing.T, server, key string, clients int) *pushing {
	t.Helper()
	p := &pushing{}
	var ctx context.Context
	ctx, p.end = context.WithCancel(t.Context())
	reports := make(chan *client.Report)
	p.group.Go(func() {
		defer close(reports)
		for r := range demo.Year(7, demo.Size{Configs: 1}) {
			if r.Pull != 0 {
				continue
			}
			select {
			case reports <- r:
			case <-ctx.Done():
				return
			}
		}
	})
	for range clients {
		p.group.Go(func() {
			for r := range reports {
				err := push(t.Context(), server, key, r)
				p.mu.Lock()
				p.sent, p.failed = append(p.sent, r.Run), errors.Join(p.failed, err)
				p.mu.Unlock()
			}
		})
	}
	return p
}

// more waits until n more reports were acknowledged.
func (p *pushing) more(t *testing.T, n int) {
	t.Helper()
	count := func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return len(p.sent)
	}
	until := count() + n
	await.True(t, "more reports to be pushed", func() bool { return count() >= until })
}

// A new version is installed and taken back under load. Servers of both versions serve one database, in
// either order, and no push fails.
func TestUpgradeAndBack(t *testing.T) {
	t.Parallel()
	o := newOperated(t)
	o.want(0, nil, "migrate")
	o.want(0, nil, "project", "create", "kernels", "--public")
	key := strings.TrimSpace(o.want(0, nil, "key", "create", "kernels", "--scope", "report:main"))
	b := newBalancer(t.Context())
	front := httptest.NewServer(b)
	defer front.Close()
	start := func(version ...string) *process {
		p := startServe(t, o.url, append(append(version, o.env...), "PAWLD_SHUTDOWN_DELAY=500ms", "PAWLD_DATABASE_MIGRATE=false")...)
		b.add(p.Address)
		await.True(t, "the balancer to see the server", func() bool { return b.has(p.Address) })
		return p
	}
	running := []*process{start(), start()}
	replace := func(i int, version ...string) {
		running[i].signal(t, syscall.SIGTERM)
		if code := running[i].code(t); code != 0 {
			t.Errorf("a replaced server exits with %d", code)
		}
		b.remove(running[i].Address)
		running[i] = start(version...)
	}
	ready := func(p *process) bool {
		code, _ := get(t, &http.Client{Timeout: await.Limit}, "http://"+p.Address+"/readyz")
		return code == http.StatusOK
	}
	migrateAs := func(version string) {
		var p process
		p.start(t, append([]string{version}, o.env...), "migrate")
		if code := p.code(t); code != 0 {
			t.Fatalf("migrate of %s exits with %d", version, code)
		}
	}
	load := startPushing(t, front.URL, key, 3)
	load.more(t, 10)
	migrateAs(asNext)
	load.more(t, 10) // the old servers work on the new schema
	for i, p := range running {
		if !ready(p) {
			t.Errorf("old server %d is not ready on the new schema", i)
		}
	}
	replace(0, asNext)
	load.more(t, 10) // both versions at once
	replace(1, asNext)
	load.more(t, 10)
	replace(0) // and back
	load.more(t, 10)
	replace(1)
	load.more(t, 10)
	load.end()
	load.group.Wait()
	if load.failed != nil {
		t.Errorf("a push failed: %v", load.failed)
	}
	kept := keptRuns(t, front.URL)
	for _, run := range load.sent {
		if kept[run] != 1 {
			t.Errorf("run %s was acknowledged and is kept %d times", run, kept[run])
		}
	}
	t.Logf("%d reports were pushed during 4 replacements", len(load.sent))
	o.want(0, []string{"no problems found"}, "fsck")
	// A contraction ends what is older than it allows: it is not ready, and does not start again.
	migrateAs(asLater)
	await.True(t, "an old server to say that it is not ready", func() bool { return !ready(running[0]) })
	o.want(3, []string{"needs version 9002"}, "migrate")
}
