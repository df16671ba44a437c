package server

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/klauspost/compress/zstd"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/blob"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/measure"
)

// begun sends the head of a request without its body and returns the status of the response.
func (w *world) begun(head string) int {
	w.t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, head)
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		w.t.Fatal(err)
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// A job that no rule allows gets no slot and no memory for a body, whatever its announced
// size: otherwise sixteen requests would use up the budget for all reports.
func TestStrangersAreNotReadFrom(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", false)
	w.rule(p, ".github/workflows/pawl-ratchet.yml", "push")
	w.project("unruled", false)
	for name, token := range map[string]string{
		"made up":               "x",
		"of another repository": w.token("kernels", []byte("x"), map[string]any{"repository_id": "1002"}),
		"that is over":          w.token("kernels", []byte("x"), map[string]any{"exp": time.Now().Add(-time.Hour).Unix()}),
	} {
		for _, slug := range []string{"kernels", "unruled", "nothing"} {
			got := w.begun(fmt.Sprintf("POST /v1/projects/%s/reports HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", slug, token, client.MaxReport))
			if got != http.StatusUnauthorized {
				t.Errorf("a token %s, to %s: %d", name, slug, got)
			}
		}
	}
}

// A sender is authenticated before the digest or run name in the path is checked.
func TestSend_AuthenticatesBeforeItChecksThePath(t *testing.T) {
	w := newWorld(t)
	key := w.key(w.project("kernels", false), store.ScopeReport)
	for _, c := range []struct {
		method, path string
		want         int // with a valid key
	}{
		{"HEAD", "/v1/projects/kernels/blobs/short", http.StatusBadRequest},
		{"POST", "/v1/projects/kernels/blobs/short", http.StatusBadRequest},
		{"POST", "/v1/projects/kernels/live/short", http.StatusNotFound},
	} {
		q := asked{method: c.method, path: c.path, body: []byte("{}"), header: map[string]string{"Content-Type": "application/json"}}
		w.want(http.StatusUnauthorized, q)
		q.key = key
		w.want(c.want, q)
	}
}

// Every caller with access to a run can make the server unpack its record. The number of
// records unpacked at once is limited, so that memory does not run out.
func TestFewRecordsAtOnce(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.Wait = time.Millisecond })
	key := w.key(w.project("kernels", true), store.ScopeReport)
	body := []byte("no record")
	w.want(http.StatusCreated, asked{method: "POST", path: "/v1/projects/kernels/blobs/" + digest(body), key: key, body: body})
	r := example(1, 1)
	r.Blobs = []client.Blob{{Digest: digest(body), Size: int64(len(body)), Kind: client.BlobRecord}}
	id := w.sent("kernels", key, r).Report
	record, page := fmt.Sprintf("/v1/projects/kernels/runs/%d/record", id), fmt.Sprintf("/p/kernels/runs/%d", id)
	for range 2 * w.server.limits.Records { // each releases its slot
		w.want(http.StatusUnprocessableEntity, asked{path: record})
		w.want(http.StatusOK, asked{path: page})
	}
	await.True(t, "the slots to be released", func() bool { return w.server.records.whole.TryAcquire(int64(w.server.limits.Records)) })
	if a := w.want(http.StatusServiceUnavailable, asked{path: record}); a.Header.Get("Retry-After") != "1" {
		t.Errorf("%v", a.Header)
	}
	if a := w.want(http.StatusOK, asked{path: page}); !strings.Contains(string(a.body), "too many records are being read at once") {
		t.Error("the page does not say why there is no report on it")
	}
}

// A file of a megabyte may need hundreds of megabytes in memory: the server checks this
// before it unpacks the file.
func TestRecordsThatGrow(t *testing.T) {
	w := newWorld(t)
	key := w.key(w.project("kernels", true), store.ScopeReport)
	z := must(zstd.NewWriter(nil))
	for n, c := range []struct{ rounds, want int }{{1000, http.StatusOK}, {recordLimits.Lists, http.StatusUnprocessableEntity}} {
		var text strings.Builder
		fmt.Fprintf(&text, `{"schema":%q,"id":%q,"cases":[{"benchmark":"b","implementation":"candidate","unit":"ns","rounds":[{}`, measure.SchemaRun, runName(n))
		for range c.rounds {
			fmt.Fprintf(&text, `,{"note":"%08x"}`, rand.Uint32()) // packs badly: the ratio is another limit
		}
		body := z.EncodeAll([]byte(text.String()+"]}]}"), nil)
		w.want(http.StatusCreated, asked{method: "POST", path: "/v1/projects/kernels/blobs/" + digest(body), key: key, body: body})
		r := example(n, 1)
		r.Blobs = []client.Blob{{Digest: digest(body), Size: int64(len(body)), Kind: client.BlobRecord}}
		a := w.do(asked{path: fmt.Sprintf("/v1/projects/kernels/runs/%d/record", w.sent("kernels", key, r).Report)})
		if a.StatusCode != c.want {
			t.Errorf("%d rounds: %d %.300s, want %d", c.rounds, a.StatusCode, a.body, c.want)
		}
	}
}

func TestPagesHaveATimeLimit(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.Request = 100 * time.Millisecond })
	w.project("kernels", true)
	w.sql(func(ctx context.Context, conn *pgx.Conn) error {
		tx, err := conn.Begin(ctx)
		if err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, `lock table pawl.series in access exclusive mode`); err != nil {
			return err
		}
		w.want(http.StatusServiceUnavailable, asked{path: "/p/kernels/series"})
		return tx.Rollback(ctx)
	})
}

// The number of a request is its own, also in a problem that many have.
func TestProblemsAreNotShared(t *testing.T) {
	w := newWorld(t)
	key := w.key(w.project("kernels", true), store.ScopeReport)
	path := fmt.Sprintf("/v1/projects/kernels/runs/%d/record", w.sent("kernels", key, example(1, 1)).Report)
	if id := w.want(http.StatusNotFound, asked{path: path}).problem(t).Request; id == "" || errNoRecord.Request != "" {
		t.Errorf("the request %q is in the problem of all: %q", id, errNoRecord.Request)
	}
}

// Bytes that were lost, or are not any more what they were, are not told to be there.
func TestBytesThatAreLost(t *testing.T) {
	dir := t.TempDir()
	bucket := must(blob.Open(t.Context(), "file://"+dir))
	w := newWorld(t, func(c *Config) { c.Blobs = bucket })
	p := w.project("kernels", true)
	key := w.key(p, store.ScopeReport)
	body := []byte(strings.Repeat("bytes", 20_000))
	send := asked{method: "POST", path: "/v1/projects/kernels/blobs/" + digest(body), key: key, body: body}
	look := asked{method: "HEAD", path: send.path, key: key}
	w.want(http.StatusCreated, send)
	w.want(http.StatusOK, look)
	if err := bucket.Delete(w.ctx(), p.ID, digest(body)); err != nil {
		t.Fatal(err)
	}
	w.want(http.StatusNotFound, look)
	w.want(http.StatusOK, send)
	w.want(http.StatusOK, look)
	if got := w.want(http.StatusOK, asked{path: send.path}); string(got.body) != string(body) {
		t.Errorf("%d bytes came back", len(got.body))
	}

	body[7] = 'x'
	if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(p.ID), path.Base(send.path)[:2], path.Base(send.path)), body, 0o600); err != nil {
		t.Fatal(err)
	}
	resp, err := w.http.Do(w.request(asked{path: send.path}))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if _, err := io.Copy(io.Discard, resp.Body); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("damaged bytes look whole: %v", err)
	}
	if !strings.Contains(w.log.String(), `"level":"ERROR","msg":"a blob was cut off"`) {
		t.Error("nobody is told of a damaged blob")
	}
}

// What a fork says of a testbed is not how the testbed is.
func TestForksSayNothingOfTheMachine(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", true)
	for n, lane := range []client.Lane{client.Main, client.Fork, client.Branch} {
		r := example(n, 1)
		r.Health.TemperatureC = float64(60 + n)
		_, err := w.store.Ingest(w.ctx(), p.ID, store.Incoming{Key: client.Key(r), Report: r, Lane: lane})
		if err != nil {
			t.Fatal(err)
		}
	}
	beds := must(w.store.Testbeds(w.ctx(), p.ID))
	bed := must(w.server.bed(w.ctx(), p, beds[0], time.Time{}, 10))
	var told []float64
	for _, r := range bed.Readings {
		told = append(told, r.TemperatureC)
	}
	if !slices.Equal(told, []float64{60, 62}) {
		t.Errorf("the testbed was at %v degrees", told)
	}
}

func TestSearchingCosts(t *testing.T) {
	w := newWorld(t, func(c *Config) { c.Limits.PerAddress = Rate{0.001, 3 * searchCost} })
	found := 0
	for w.do(asked{path: "/search?q=attention"}).StatusCode == http.StatusOK {
		found++
	}
	if found == 0 || found > 3 {
		t.Errorf("%d searches were answered", found)
	}
}
