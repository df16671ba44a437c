package server

import (
	"bytes"
	"context"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/server/demo"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// size is how much of a storm is made: some in CI, all of it in a lab.
func size(ci, lab int) int {
	if os.Getenv("PAWL_LAB") != "" {
		return lab
	}
	return ci
}

// each runs a number of clients that take turns until there is nothing left to do.
func each(clients, n int, do func(i int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range clients {
		all.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				do(i)
			}
		})
	}
	all.Wait()
}

// post sends bytes as a report, and tells the status.
func (w *world) post(slug, key string, body []byte) (int, []byte) {
	w.t.Helper()
	r := w.request(asked{method: "POST", path: "/v1/projects/" + slug + "/reports", key: key, body: body})
	resp, err := w.http.Do(r)
	if err != nil {
		w.t.Error(err)
		return 0, nil
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	return resp.StatusCode, text
}

// count is how many rows of a table a project has.
func (w *world) count(table string, project int64) (n int) {
	w.t.Helper()
	w.sql(func(ctx context.Context, conn *pgx.Conn) error {
		return conn.QueryRow(ctx, `select count(*) from pawl.`+table+` where project_id = $1`, project).Scan(&n)
	})
	return n
}

// seeds are reports of a believable year.
func seeds(t testing.TB, n int) [][]byte {
	t.Helper()
	var list [][]byte
	for r := range demo.Year(1, demo.Size{}) {
		r.Points = r.Points[:min(len(r.Points), 8)]
		r.Blobs = nil
		list = append(list, encodeReport(t, r))
		if len(list) == n {
			return list
		}
	}
	return list
}

// Reports that were changed on the way, or on purpose, cost an answer and leave nothing.
// A change that makes another valid report is one; it must not break anything either.
func TestMalformedReports(t *testing.T) {
	w := newWorld(t)
	strict, lenient := w.project("strict", false), w.project("lenient", false)
	strictKey, lenientKey := w.key(strict, store.ScopeReportMain), w.key(lenient, store.ScopeReportMain)
	from := seeds(t, 20)
	n := size(1_000, 10_000)
	bodies := make([][]byte, 0, n)
	var valid [][]byte
	random := rand.New(rand.NewPCG(8, 15))
	for len(bodies) < n {
		body := mutate(random, from[random.IntN(len(from))])
		if _, err := client.Decode(body, time.Now()); err != nil {
			bodies = append(bodies, body)
		} else if len(valid) < n/5 {
			valid = append(valid, body)
		}
	}
	before := w.fingerprint()
	each(8, n, func(i int) {
		if status, said := w.post("strict", strictKey, bodies[i]); status < 400 || status > 499 {
			t.Errorf("%d %s to %.300q", status, said, bodies[i])
		}
	})
	if after := w.fingerprint(); after != before {
		t.Errorf("rows were written: before\n%s\nafter\n%s", before, after)
	}
	var taken atomic.Int64
	each(8, len(valid), func(i int) {
		status, said := w.post("lenient", lenientKey, valid[i])
		if status == http.StatusCreated {
			taken.Add(1)
		} else if status != http.StatusOK && (status < 400 || status > 499) {
			t.Errorf("%d %s to %.300q", status, said, valid[i])
		}
	})
	if got := w.count("receipt", lenient.ID); got != int(taken.Load()) || got == 0 {
		t.Errorf("%d were acknowledged, %d are kept", taken.Load(), got)
	}
	t.Logf("%d malformed and %d valid mutants", n, len(valid))
}

// hostile are values that stand where others are expected.
var hostile = []string{
	"null", "true", `""`, "[]", "{}", "-1", "1e308", "1e999", "-0", "9223372036854775808", "0.1e-400", `"\u0000"`, `"\ud800"`, `"` + strings.Repeat("a", 5000) + `"`,
	`"2999-01-01T00:00:00Z"`, `"0001-01-01T00:00:00Z"`, `"../../etc/passwd"`, `"'; drop table pawl.point; --"`, `"<script>"`, "NaN", strings.Repeat("[", 64) + strings.Repeat("]", 64),
}

// mutate changes a body somewhere: bytes, ends, parts twice or not at all, and values.
func mutate(r *rand.Rand, body []byte) []byte {
	b := bytes.Clone(body)
	for range 1 + r.IntN(3) {
		at := r.IntN(len(b))
		end := min(len(b), at+1+r.IntN(40))
		switch r.IntN(6) {
		case 0:
			b[at] ^= byte(1 + r.IntN(255))
		case 1:
			b = b[:at+1]
		case 2:
			b = append(b[:at:at], b[end:]...)
		case 3:
			b = append(b[:end:end], b[at:]...)
		default: // the value after a colon
			colon := bytes.IndexByte(b[at:], ':')
			if colon < 0 {
				continue
			}
			start := at + colon + 1
			stop := start + max(1, bytes.IndexAny(b[start:], ",}]"))
			b = append(append(b[:start:start], hostile[r.IntN(len(hostile))]...), b[min(stop, len(b)):]...)
		}
		if len(b) == 0 {
			return []byte(" ")
		}
	}
	return b
}

// However many send the same at once, it is kept once, and all get the same receipt.
func TestManySendTheSame(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", false)
	key := w.key(p, store.ScopeReportMain)
	clients, copies := size(16, 256), 4
	reports := clients * 2
	bodies := make([][]byte, reports)
	for i := range bodies {
		bodies[i] = encodeReport(t, example(i, 3))
	}
	var mu sync.Mutex
	receipts := map[int]map[string]bool{}
	created := map[int]int{}
	each(clients, reports*copies, func(i int) {
		which := i / copies // neighbours send the same
		for end := time.Now().Add(await.Limit); ; {
			status, said := w.post("kernels", key, bodies[which])
			if (status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests) && time.Now().Before(end) {
				time.Sleep(time.Millisecond)
				continue
			}
			if status != http.StatusCreated && status != http.StatusOK {
				t.Errorf("%d %s", status, said)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if status == http.StatusCreated {
				created[which]++
			}
			if receipts[which] == nil {
				receipts[which] = map[string]bool{}
			}
			receipts[which][strings.Replace(string(said), `,"again":true`, "", 1)] = true
			return
		}
	})
	for i := range reports {
		if created[i] != 1 || len(receipts[i]) != 1 {
			t.Errorf("report %d was new %d times, with receipts %v", i, created[i], receipts[i])
		}
	}
	if got := w.count("report", p.ID); got != reports {
		t.Errorf("%d reports are kept, want %d", got, reports)
	}
	if got := w.count("point", p.ID); got != reports*3 {
		t.Errorf("%d points are kept, want %d", got, reports*3)
	}
}

// A client that does not get its answer asks again, and everything is there once.
func TestAnswersThatAreLost(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", false)
	key := w.key(p, store.ScopeReportMain)
	to, _ := url.Parse(w.url)
	cuts, reports := size(200, 10_000), size(100, 5_000)
	var cut atomic.Int64
	tries := sync.Map{} // by idempotency key: how often it came
	through := httputil.NewSingleHostReverseProxy(to)
	proxy := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			n, _ := tries.LoadOrStore(r.Header.Get("Idempotency-Key"), new(atomic.Int64))
			if n.(*atomic.Int64).Add(1) <= int64(cuts/reports) { // lost once it is committed
				recorder := httptest.NewRecorder()
				through.ServeHTTP(recorder, r)
				if recorder.Code != http.StatusCreated && recorder.Code != http.StatusOK {
					t.Errorf("%d %s", recorder.Code, recorder.Body)
				}
				cut.Add(1)
				panic(http.ErrAbortHandler)
			}
		}
		through.ServeHTTP(rw, r)
	}))
	defer proxy.Close()
	c := client.Client{
		URL: proxy.URL, Project: "kernels", HTTP: proxy.Client(), Now: time.Now,
		Token: func(context.Context, string) (string, error) { return key, nil },
		Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
	each(8, reports, func(i int) {
		r := example(i, 2)
		receipt, err := c.Push(t.Context(), &client.Spooled{Key: client.Key(r), Run: r.Run, Body: encodeReport(t, r)})
		if err != nil || !receipt.Again || receipt.Points != 2 {
			t.Errorf("report %d: %+v, %v", i, receipt, err)
		}
	})
	if int(cut.Load()) != cuts {
		t.Errorf("%d answers were cut, want %d", cut.Load(), cuts)
	}
	if got := w.count("report", p.ID); got != reports {
		t.Errorf("%d reports are kept, want %d", got, reports)
	}
	if got := w.count("point", p.ID); got != reports*2 {
		t.Errorf("%d points are kept, want %d", got, reports*2)
	}
	if got := w.count("receipt", p.ID); got != reports {
		t.Errorf("%d receipts", got)
	}
}
