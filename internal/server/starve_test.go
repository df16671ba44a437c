package server

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/measure"
)

// dialed sends the start of a request and returns the connection.
func (w *world) dialed(head string) net.Conn {
	w.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = conn.Close() })
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetReadBuffer(4 << 10)
	}
	if _, err := io.WriteString(conn, head); err != nil {
		w.t.Fatal(err)
	}
	return conn
}

// recordOf stores a run with a record of so many kilobytes, in as many rounds.
func (w *world) recordOf(slug, key string, n, kilobytes int) int64 {
	w.t.Helper()
	var text strings.Builder
	fmt.Fprintf(&text, `{"schema":%q,"id":%q,"cases":[{"benchmark":"b","implementation":"candidate","unit":"ns","rounds":[{}`, measure.SchemaRun, runName(n))
	r, rest := rand.NewChaCha8([32]byte{byte(n)}), strings.Repeat("x", 900)
	for range kilobytes {
		fmt.Fprintf(&text, `,{"note":"%016x%016x%016x%016x%s"}`, r.Uint64(), r.Uint64(), r.Uint64(), r.Uint64(), rest) // packs badly: the ratio is another limit
	}
	body := must(zstd.NewWriter(nil)).EncodeAll([]byte(text.String()+"]}]}"), nil)
	w.want(http.StatusCreated, asked{method: "POST", path: "/v1/projects/" + slug + "/blobs/" + digest(body), key: key, body: body})
	report := example(n, 1)
	report.Blobs = []client.Blob{{Digest: digest(body), Size: int64(len(body)), Kind: client.BlobRecord}}
	return w.sent(slug, key, report).Report
}

// Clients that request large records and never read them hold none of the slots in which records are
// unpacked.
func TestSlowReaders_HoldNoSlot(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.Wait = await.Limit })
	mine, other := w.key(w.project("mine", true), store.ScopeReport), w.key(w.project("other", true), store.ScopeReport)
	large := w.recordOf("mine", mine, 1, 5_000)
	small := w.recordOf("other", other, 2, 10)
	const readers = 4
	var conns []net.Conn
	for range readers {
		conns = append(conns, w.dialed(fmt.Sprintf("GET /v1/projects/mine/runs/%d/record HTTP/1.1\r\nHost: x\r\n\r\n", large)))
	}
	for _, conn := range conns { // every response has started, and is stuck
		line, err := bufio.NewReaderSize(conn, 16).ReadString('\n')
		if err != nil || !strings.Contains(line, " 200 ") {
			t.Fatalf("%q, %v", line, err)
		}
	}
	await.True(t, "the slots to be released", func() bool {
		if !w.server.records.whole.TryAcquire(int64(w.server.limits.Records)) {
			return false
		}
		w.server.records.whole.Release(int64(w.server.limits.Records))
		return true
	})
	w.want(http.StatusOK, asked{path: fmt.Sprintf("/v1/projects/other/runs/%d/record", small)})
	w.want(http.StatusOK, asked{path: fmt.Sprintf("/p/other/runs/%d", small)})
	w.want(http.StatusOK, asked{path: fmt.Sprintf("/p/mine/runs/%d", large)})
}

// A record that is sent is the record that was stored.
func TestRecords_AreSentWhole(t *testing.T) {
	w := newWorld(t)
	key := w.key(w.project("mine", true), store.ScopeReport)
	a := w.want(http.StatusOK, asked{path: fmt.Sprintf("/v1/projects/mine/runs/%d/record", w.recordOf("mine", key, 1, 2_000))})
	run, err := measure.Read(bytes.NewReader(a.body))
	if err != nil || len(run.Cases) != 1 || len(run.Cases[0].Rounds) != 2_001 {
		t.Fatalf("%v", err)
	}
}

// A client that stops reading is cut off.
func TestSlowReaders_AreCutOff(t *testing.T) {
	w := newWorld(t)
	key := w.key(w.project("mine", true), store.ScopeReport)
	large := w.recordOf("mine", key, 1, 5_000)
	strict, err := New(Config{Store: w.store, Blobs: w.blobs, URL: publicURL, Log: w.server.log, Limits: Limits{Stall: 50 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	front := httptest.NewServer(strict.Handler())
	defer front.Close()
	w.url, w.server = front.URL, strict
	conn := w.dialed(fmt.Sprintf("GET /v1/projects/mine/runs/%d/record HTTP/1.1\r\nHost: x\r\n\r\n", large))
	if line, err := bufio.NewReaderSize(conn, 16).ReadString('\n'); err != nil || !strings.Contains(line, " 200 ") {
		t.Fatalf("%q, %v", line, err)
	}
	await.True(t, "the reader to be cut off", func() bool { return strings.Contains(w.log.String(), "a record was cut off") })
	await.True(t, "its memory to be returned", func() bool { return w.server.packed.whole.TryAcquire(w.server.limits.RecordBytes) })
}

// Clients that announce large bodies and send little hold little memory: other projects can send.
func TestSlowWriters_HoldLittle(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.IngestBytes = 4 * client.MaxReport })
	mine, other := w.key(w.project("mine", false), store.ScopeReport), w.key(w.project("other", false), store.ScopeReport)
	for range 40 {
		w.dialed(fmt.Sprintf("POST /v1/projects/mine/reports HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n{", mine, client.MaxReport))
	}
	await.True(t, "the slow senders to be read from", func() bool {
		w.server.bodies.mu.Lock()
		defer w.server.bodies.mu.Unlock()
		return len(w.server.bodies.parts) == 1
	})
	for n := range 5 {
		w.sent("other", other, example(n, 10))
	}
	w.sent("mine", mine, example(9, 10))
}

// However many requests one project gets, those of another find a slot.
func TestManyRequests_LeaveSlotsToOthers(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.Requests, c.Limits.Wait = 8, time.Millisecond })
	a := w.project("mine", true)
	w.project("other", true)
	for range 2 {
		if !w.server.turns.try(a.ID, 1) {
			t.Fatal("a project cannot use its part")
		}
	}
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if a := w.do(asked{path: "/v1/projects/mine/series"}); a.StatusCode != http.StatusServiceUnavailable || a.Header.Get("Retry-After") != "1" {
				t.Errorf("%d %v", a.StatusCode, a.Header)
			}
		})
	}
	group.Wait()
	w.want(http.StatusServiceUnavailable, asked{path: "/p/mine/series"})
	w.want(http.StatusOK, asked{path: "/v1/projects/other/series"})
	w.want(http.StatusOK, asked{path: "/p/other/series"})
	w.server.turns.give(a.ID, 1)
	w.want(http.StatusOK, asked{path: "/v1/projects/mine/series"})
	w.server.turns.give(a.ID, 1)
	await.True(t, "all slots to be returned", func() bool {
		w.server.turns.mu.Lock()
		defer w.server.turns.mu.Unlock()
		return len(w.server.turns.parts) == 0
	})
}

func TestPacer(t *testing.T) {
	p := pacer{stall: 20 * time.Second, rate: 1000}
	if got := p.limit(2000); got != 22*time.Second {
		t.Errorf("the first bytes may take %v", got)
	}
	p.moved = 1_000_000 // in no time
	if got := p.limit(1000); got != 21*time.Second {
		t.Errorf("bytes after many fast ones may take %v", got)
	}
	p.moved, p.spent = 10_000, 28*time.Second // 10 s at the minimum rate
	if got := p.limit(0); got != 2*time.Second {
		t.Errorf("bytes after a long pause may take %v", got)
	}
}
