package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"golang.org/x/time/rate"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// clock is one that a test moves.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

func TestRates(t *testing.T) {
	time0 := &clock{at: time.Now()}
	w := newWorld(t, func(c *Config) {
		c.Now = time0.now
		c.Limits.PerKey, c.Limits.PerProject = Rate{1, 5}, Rate{1, 12}
	})
	p, other := w.project("kernels", false), w.project("other", false)
	one, two := w.key(p, store.ScopeRead), w.key(p, store.ScopeRead)
	third := w.key(other, store.ScopeRead)
	until := func(key, slug string) int {
		for n := range 100 {
			a := w.do(asked{path: "/v1/projects/" + slug, key: key})
			if a.StatusCode == http.StatusTooManyRequests {
				if a.Header.Get("Retry-After") != "1" || a.problem(t).word() != "rate" {
					t.Errorf("Retry-After %q: %s", a.Header.Get("Retry-After"), a.body)
				}
				return n
			}
		}
		return -1
	}
	if n := until(one, "kernels"); n != 5 {
		t.Errorf("one key was answered %d times at once", n)
	}
	if n := until(two, "kernels"); n != 5 {
		t.Errorf("another key was answered %d times", n)
	}
	if n := until(third, "other"); n != 5 {
		t.Errorf("a key of another project was answered %d times", n)
	}
	if n := until("", "kernels"); n != -1 {
		t.Errorf("nobody was not refused for who they are, but after %d", n)
	}
	fresh := w.key(p, store.ScopeRead)
	if n := until(fresh, "kernels"); n != 2 {
		t.Errorf("the project was asked %d times more, with 10 of 12 used", n)
	}
	time0.move(2 * time.Second)
	if n := until(one, "kernels"); n != 2 {
		t.Errorf("two seconds later: %d", n)
	}
}

func TestRateOfAddresses(t *testing.T) {
	time0 := &clock{at: time.Now()}
	w := newWorld(t, func(c *Config) {
		c.Now = time0.now
		c.Limits.PerAddress = Rate{1, 30}
		c.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/8")}
	})
	ask := func(from, key string) int {
		return w.do(asked{path: "/v1/projects", key: key, header: map[string]string{"X-Forwarded-For": from}}).StatusCode
	}
	// A key that is wrong costs more than a question.
	n := 0
	for ask("192.0.2.1", "pawl_1_wrong") == http.StatusUnauthorized {
		n++
	}
	if n < 2 || n > 3 {
		t.Errorf("an address may guess %d keys", n)
	}
	if got := ask("192.0.2.2", ""); got != 200 {
		t.Errorf("another address: %d", got)
	}
	// Whom a stranger claims to ask for stands left of what our proxies saw.
	if got := ask("192.0.2.77, 192.0.2.1, 10.1.2.3", ""); got != http.StatusTooManyRequests {
		t.Errorf("an address that hides behind another: %d", got)
	}
	// One sender of IPv6 has 2^64 addresses.
	for i := range 30 {
		ask(fmt.Sprintf("2001:db8:1:1::%x", i), "")
	}
	if got := ask("2001:db8:1:1::ffff", ""); got != http.StatusTooManyRequests {
		t.Errorf("the next address of the same network: %d", got)
	}
	if got := ask("2001:db8:1:2::1", ""); got != 200 {
		t.Errorf("another network: %d", got)
	}
}

// However many strangers come, what is remembered of them stays small.
func TestBucketsAreBounded(t *testing.T) {
	b := &limiterCache{newLRU[*rate.Limiter](100), time.Now}
	for i := range 10_000 {
		b.take(fmt.Sprint(i), Rate{1, 1})
		b.take("regular", Rate{1e-9, 20_000})
	}
	if len(b.byKey) != 100 || b.order.Len() != 100 {
		t.Errorf("%d are remembered, in a list of %d", len(b.byKey), b.order.Len())
	}
	if left := b.of("regular", Rate{}).Tokens(); left > 10_001 {
		t.Errorf("who comes all the time was forgotten: %v left", left)
	}
}

// Beyond what can be stored at once, reports are sent away to come again.
func TestBackPressure(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.Ingests, c.Limits.Wait = 1, time.Millisecond })
	p := w.project("kernels", false)
	key := w.key(p, store.ScopeReport)
	w.sent("kernels", key, example(0, 1))
	w.sql(func(ctx context.Context, conn *pgx.Conn) error {
		tx, err := conn.Begin(ctx)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `lock table pawl.receipt in exclusive mode`); err != nil {
			return err
		}
		done := make(chan int, 1)
		go func() { done <- w.send("kernels", key, example(1, 1)).StatusCode }()
		await.True(t, "the first report to have the only place", func() bool {
			waiting := 0
			if err := tx.QueryRow(ctx, `select count(*) from pg_locks where not granted and database = (select oid from pg_database where datname = current_database())`).Scan(&waiting); err != nil {
				t.Fatal(err)
			}
			return waiting > 0
		})
		a := w.send("kernels", key, example(2, 1))
		if a.StatusCode != http.StatusServiceUnavailable || a.Header.Get("Retry-After") != "1" {
			t.Errorf("%d %v", a.StatusCode, a.Header)
		}
		if err := tx.Rollback(ctx); err != nil {
			return err
		}
		if status := <-done; status != http.StatusCreated {
			t.Errorf("the first: %d", status)
		}
		return nil
	})
	w.sent("kernels", key, example(2, 1))
	w.allMemory()
	if a := w.send("kernels", key, example(3, 1)); a.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("without memory for the body: %d", a.StatusCode)
	}
}

// S11: what is too large, too deep or too slow is the sender's fault, and nothing of it
// is kept.
func TestLimitsOfReports(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", false)
	key := w.key(p, store.ScopeReport)
	path := "/v1/projects/kernels/reports"
	good := string(encodeReport(t, example(1, 1)))
	before := w.fingerprint()
	for _, c := range []struct {
		name, body string
		want       int
	}{
		{"more than 16 MiB", strings.Repeat(" ", client.MaxReport+1), 413},
		{"more than 16 MiB of a report", good + strings.Repeat(" ", client.MaxReport), 413},
		{"nothing", "", 400},
		{"not JSON", "hello", 400},
		{"two documents", good + good, 400},
		{"too deep", strings.Repeat("[", 40) + strings.Repeat("]", 40), 400},
		{"a text of 5 KB", strings.Replace(good, `"Maintained."`, `"`+strings.Repeat("a", 5<<10)+`"`, 1), 400},
		{"a field that is not known", strings.Replace(good, `"suite"`, `"suiet"`, 1), 400},
		{"a field twice", strings.Replace(good, `"suite"`, `"suite":"a","suite"`, 1), 400},
		{"no number", strings.Replace(good, `"value":1000`, `"value":NaN`, 1), 400},
		{"a number beyond all", strings.Replace(good, `"value":1000`, `"value":1e999`, 1), 400},
		{"another schema", strings.Replace(good, client.SchemaReport, "pawl.report/v2", 1), 400},
		{"from the future", strings.Replace(good, began.Format("2006"), "2999", 1), 400},
	} {
		if a := w.do(asked{method: "POST", path: path, key: key, body: []byte(c.body)}); a.StatusCode != c.want {
			t.Errorf("%s: %d %.200s, want %d", c.name, a.StatusCode, a.body, c.want)
		}
	}
	for name, q := range map[string]asked{
		"packed":                   {header: map[string]string{"Content-Encoding": "gzip"}},
		"as a form":                {header: map[string]string{"Content-Type": "application/x-www-form-urlencoded"}},
		"with a key of another":    {header: map[string]string{"Idempotency-Key": strings.Repeat("0", 64)}},
		"with a key that is wrong": {header: map[string]string{"Idempotency-Key": "x"}},
	} {
		q.method, q.path, q.key, q.body = "POST", path, key, []byte(good)
		if a := w.do(q); a.StatusCode < 400 || a.StatusCode > 499 {
			t.Errorf("%s: %d %s", name, a.StatusCode, a.body)
		}
	}
	// Without saying how much comes, it is counted as it comes.
	r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+path, io.LimitReader(spaces{}, client.MaxReport+1))
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	resp, err := w.http.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a stream that is too long: %d", resp.StatusCode)
	}
	if after := w.fingerprint(); after != before {
		t.Errorf("rows were written: before\n%s\nafter\n%s", before, after)
	}
}

type spaces struct{}

func (spaces) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// A client that does not go on sending is told so, and gives its place back.
func TestSlowBodies(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.Stall = 50 * time.Millisecond })
	p := w.project("kernels", false)
	key := w.key(p, store.ScopeReport)
	for _, path := range []string{"/reports", "/blobs/" + digest([]byte("x"))} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(conn, "POST /v1/projects/kernels%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", path, key)
		resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
		if err != nil {
			t.Fatal(err)
		}
		if resp.StatusCode != http.StatusRequestTimeout {
			t.Errorf("%s: %d", path, resp.StatusCode)
		}
		_ = resp.Body.Close()
		_ = conn.Close()
	}
	w.allMemory()
}

// allMemory takes all memory for request bodies. It waits, because a request returns its
// share after its answer was sent.
func (w *world) allMemory() {
	w.t.Helper()
	await.True(w.t, "memory to be given back", func() bool { return w.server.bodies.whole.TryAcquire(w.server.limits.IngestBytes) })
}
