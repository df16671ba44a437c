package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	parquetgo "github.com/parquet-go/parquet-go"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/parquet"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/measure/samplecodec"
)

// Lists are read page by page: everything once, in order, and to the end.
func TestCursors(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", true)
	key := w.key(p, store.ScopeAdmin)
	for n := range 7 {
		w.sent("kernels", key, example(n, 5))
		w.want(201, asked{method: "POST", path: "/v1/projects/kernels/keys", key: key, json: map[string]any{"name": "k", "scopes": []string{"read"}}})
	}
	for list, want := range map[string]int{"runs": 7, "series": 5, "audit": 7} {
		seen := map[float64]bool{}
		cursor, pages := "", 0
		for {
			var got struct {
				Items []map[string]any
				Next  string
			}
			w.want(200, asked{path: "/v1/projects/kernels/" + list + "?limit=2&cursor=" + url.QueryEscape(cursor), key: key}).into(t, &got)
			for _, item := range got.Items {
				id, _ := item["id"].(float64)
				if list == "audit" {
					id, _ = item["n"].(float64)
				}
				if seen[id] {
					t.Errorf("%s: %v twice", list, id)
				}
				seen[id] = true
			}
			if pages++; got.Next == "" || pages > 20 {
				break
			}
			cursor = got.Next
		}
		if len(seen) != want || pages != (want+1)/2 {
			t.Errorf("%s: %d entries on %d pages, want %d", list, len(seen), pages, want)
		}
	}
	for _, bad := range []string{"cursor=x", "cursor=" + cursorAt("series", 3), "cursor=" + cursorAt("runs", -3), "limit=0", "limit=501", "limit=x", "lane=none", "testbed=-1", "colour=red", "limit=1&limit=2", "commit=" + strings.Repeat("a", 2000), "%zz"} {
		w.want(400, asked{path: "/v1/projects/kernels/runs?" + bad})
	}
	for _, bad := range []string{"from=yesterday", "last=0", "last=1000000", "buckets=100000", "buckets=-1"} {
		w.want(400, asked{path: "/v1/projects/kernels/series/1/points?" + bad})
	}
	for _, none := range []string{"series/99", "series/99/points", "series/x", "series/-1", "runs/99", "runs/99/points", "runs/99/record", "testbeds/99", "testbeds/99/history", "events/99", "groups/99", "series/9223372036854775808"} {
		w.want(404, asked{path: "/v1/projects/kernels/" + none})
	}
}

func TestPointsOfASeries(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", true)
	key := w.key(p, store.ScopeReportMain)
	for n := range 6 {
		r := example(n, 1)
		at := began.AddDate(0, 0, n-10)
		r.Commit.At, r.Points[0].Value = &at, 1000+float64(n)
		r.Points[0].High = 2000
		w.sent("kernels", key, r)
	}
	for query, want := range map[string]string{
		"": "0 1 2 3 4 5", "?last=2": "4 5", "?from=" + began.AddDate(0, 0, -7).Format("2006-01-02T15:04:05Z"): "3 4 5",
		"?to=" + began.AddDate(0, 0, -9).Format("2006-01-02T15:04:05Z"): "0 1", "?buckets=1": "0 5",
	} {
		var got page[client.StoredPoint]
		w.want(200, asked{path: "/v1/projects/kernels/series/1/points" + query}).into(t, &got)
		var list []string
		for _, k := range got.Items {
			list = append(list, fmt.Sprint(int(k.Value)-1000))
		}
		if strings.Join(list, " ") != want {
			t.Errorf("%q: %v, want %s", query, list, want)
		}
	}
}

// What did not change is not sent again; what did change is not overwritten.
func TestETags(t *testing.T) {
	w := newWorld(t)
	f := w.furnish("orchard", true)
	key := w.key(f.Project, store.ScopeAdmin)
	for _, path := range []string{"", "/runs", "/series/1", "/series/1/points", "/testbeds"} {
		first := w.want(200, asked{path: "/v1/projects/orchard" + path})
		etag := first.Header.Get("ETag")
		if len(etag) < 10 || !strings.Contains(first.Header.Get("Cache-Control"), "private") {
			t.Errorf("%s: ETag %q, Cache-Control %q", path, etag, first.Header.Get("Cache-Control"))
		}
		for _, header := range []string{etag, "W/" + etag, `"other", ` + etag} {
			again := w.want(304, asked{path: "/v1/projects/orchard" + path, header: map[string]string{"If-None-Match": header}})
			if len(again.body) > 0 {
				t.Errorf("%s: 304 with a body", path)
			}
		}
	}
	before := w.want(200, asked{path: "/v1/projects/orchard/runs"}).Header.Get("ETag")
	w.sent("orchard", key, example(5, 1))
	w.want(200, asked{path: "/v1/projects/orchard/runs", header: map[string]string{"If-None-Match": before}})

	event := fmt.Sprintf("/v1/projects/orchard/events/%d", f.event)
	etag := w.want(200, asked{path: event}).Header.Get("ETag")
	change := asked{method: "PATCH", path: event, key: key, json: map[string]any{"state": "acknowledged", "note": "looking"}, header: map[string]string{"If-Match": etag}}
	first := w.want(200, change)
	if got := w.want(412, change).problem(t); got.word() != "changed" {
		t.Errorf("%+v", got)
	}
	change.header["If-Match"] = first.Header.Get("ETag")
	change.json = map[string]any{"state": "fixed"}
	var now client.Event
	w.want(200, change).into(t, &now)
	if now.State != client.EventFixed || now.Note != "looking" {
		t.Errorf("%+v", now)
	}
	for _, bad := range []any{map[string]any{"state": "gone"}, map[string]any{"sate": "fixed"}, map[string]any{"note": strings.Repeat("a", 5000)}, []int{1}} {
		w.want(400, asked{method: "PATCH", path: event, key: key, json: bad})
	}
	var log page[store.Entry]
	w.want(200, asked{path: "/v1/projects/orchard/audit?limit=1", key: key}).into(t, &log)
	if e := log.Items[0]; e.Action != "event.update" || e.Detail["to"] != "fixed" || e.Detail["from"] != "acknowledged" || !strings.HasPrefix(e.Actor, "key ") {
		t.Errorf("the audit: %+v", e)
	}
}

func TestProjectIsChanged(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", false)
	key := w.key(p, store.ScopeAdmin)
	path := "/v1/projects/kernels"
	etag := w.want(200, asked{path: path, key: key}).Header.Get("ETag")
	var now projectAnswer
	w.want(200, asked{
		method: "PATCH", path: path, key: key, header: map[string]string{"If-Match": etag},
		json: map[string]any{"name": "Kernels", "public": true, "repository": "https://github.com/octo/kernels", "default_branch": "trunk", "settings": map[string]any{"branch_days": 30}},
	}).into(t, &now)
	if now.Name != "Kernels" || !now.Public || now.Branch != "trunk" || now.Settings.BranchDays != 30 {
		t.Errorf("%+v", now)
	}
	w.want(412, asked{method: "PATCH", path: path, key: key, header: map[string]string{"If-Match": etag}, json: map[string]any{"name": "late"}})
	for _, bad := range []map[string]any{
		{"name": ""},
		{"default_branch": "refs/heads/main"},
		{"repository": "javascript:alert(1)"},
		{"repository": "http://x/"},
		{"slug": "other"},
		{"settings": map[string]any{"branch_days": -1}},
		{"settings": map[string]any{"unknown": 1}},
	} {
		w.want(400, asked{method: "PATCH", path: path, key: key, json: bad})
	}
	w.want(403, asked{method: "PATCH", path: path, key: key, json: map[string]any{"settings": map[string]any{"points_a_day": 1}}})
	cookie, _ := w.person("operator", nil)
	w.want(200, asked{method: "PATCH", path: path, cookie: cookie, json: map[string]any{"settings": map[string]any{"points_a_day": 3}}})
	w.want(400, asked{method: "DELETE", path: path, key: key})
	w.want(400, asked{method: "DELETE", path: path + "?confirm=other", key: key})
	var gone deletedAnswer
	w.want(200, asked{method: "DELETE", path: path + "?confirm=kernels", key: key}).into(t, &gone)
	if gone.Project != "kernels" || gone.Rows["project"] != 1 || gone.Rows["api_key"] != 1 {
		t.Errorf("%+v", gone)
	}
}

// An export is whole when its last line says so.
func TestExport(t *testing.T) {
	w := newWorld(t)
	f := w.furnish("orchard", false)
	a := w.want(200, asked{path: "/v1/projects/orchard/export", key: w.key(f.Project, store.ScopeAdmin)})
	lines := strings.Split(strings.TrimSuffix(string(a.body), "\n"), "\n")
	kinds := map[string]int{}
	for _, line := range lines {
		var l store.Line
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		kinds[l.Kind]++
	}
	if kinds["project"] != 1 || kinds["run"] != 1 || kinds["series"] != 2 || kinds["event"] != 1 || kinds["audit"] == 0 || !strings.Contains(lines[len(lines)-1], `"end"`) {
		t.Errorf("%v, the last is %s", kinds, lines[len(lines)-1])
	}
}

// Points as columns are the points that the series have; a format that is not known is
// refused before anything is written.
func TestExportOfPoints(t *testing.T) {
	w := newWorld(t)
	f := w.furnish("orchard", false)
	key := w.key(f.Project, store.ScopeAdmin)
	a := w.want(200, asked{path: "/v1/projects/orchard/export?format=parquet", key: key})
	rows, err := parquetgo.Read[parquet.Row](bytes.NewReader(a.body), int64(len(a.body)))
	if err != nil {
		t.Fatal(err)
	}
	var points []string
	for _, r := range rows {
		points = append(points, fmt.Sprint(r.Series, r.Report, r.At, r.Value))
	}
	var want []string
	for line := range strings.SplitSeq(string(w.want(200, asked{path: "/v1/projects/orchard/export?format=jsonl", key: key}).body), "\n") {
		var l struct {
			Kind   string
			Series int64
			Data   client.StoredPoint
		}
		if strings.Contains(line, `"kind":"point"`) {
			if err := json.Unmarshal([]byte(line), &l); err != nil {
				t.Fatal(err)
			}
			want = append(want, fmt.Sprint(l.Series, l.Data.Report, l.Data.At.UnixMicro(), l.Data.Value))
		}
	}
	if diff := cmp.Diff(want, points); diff != "" || len(want) == 0 {
		t.Error(diff, len(want))
	}
	w.want(400, asked{path: "/v1/projects/orchard/export?format=csv", key: key})
	w.want(403, asked{path: "/v1/projects/orchard/export?format=parquet", key: w.key(f.Project, store.ScopeRead)})
}

// The record of a run comes back as it was measured, samples and all.
func TestRecord(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", true)
	key := w.key(p, store.ScopeReport)
	run := &measure.Run{Header: measure.Header{Schema: measure.SchemaRun, ID: runName(1), Created: began, Source: measure.Measured}, Cases: []measure.Case{{
		CaseKey: measure.CaseKey{Benchmark: "attention", Implementation: measure.Candidate}, Unit: "ns",
		Rounds: []measure.CaseRound{{Round: 0, Samples: measure.Samples{1, 2, 3.5}}, {Round: 1, Samples: measure.Samples{4, 5}}},
	}}}
	stripped, data, err := samplecodec.Split(run)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z, _ := zstd.NewWriter(&packed)
	if err := measure.Write(z, stripped); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	bomb, _ := zstd.NewWriter(nil)
	huge := bomb.EncodeAll(make([]byte, 80<<20), nil)
	send := func(n int, record, samples []byte) int64 {
		r := example(n, 1)
		for kind, b := range map[client.BlobKind][]byte{client.BlobRecord: record, client.BlobSamples: samples} {
			if b == nil {
				continue
			}
			if a := w.do(asked{method: "POST", path: "/v1/projects/kernels/blobs/" + digest(b), key: key, body: b}); a.StatusCode > 201 {
				t.Fatalf("%d %s", a.StatusCode, a.body)
			}
			r.Blobs = append(r.Blobs, client.Blob{Digest: digest(b), Size: int64(len(b)), Kind: kind})
		}
		return w.sent("kernels", key, r).Report
	}
	record := func(id int64) string { return fmt.Sprintf("/v1/projects/kernels/runs/%d/record", id) }

	whole := w.want(200, asked{path: record(send(1, packed.Bytes(), data))})
	var want bytes.Buffer
	if err := measure.Write(&want, run); err != nil {
		t.Fatal(err)
	}
	if got := string(whole.body); got != want.String() {
		t.Errorf("the record came back as\n%s\nwant\n%s", got, want.String())
	}
	w.want(304, asked{path: record(1), header: map[string]string{"If-None-Match": whole.Header.Get("ETag")}})
	w.want(200, asked{path: record(send(2, packed.Bytes(), nil))})
	w.want(404, asked{path: record(send(3, nil, nil))})
	w.want(422, asked{path: record(send(4, []byte("no record"), nil))})
	w.want(422, asked{path: record(send(5, huge, nil))})
	w.want(422, asked{path: record(send(6, packed.Bytes(), []byte("no samples")))})
}

func TestNewChecksItsConfiguration(t *testing.T) {
	w := newWorld(t)
	for name, change := range map[string]func(*Config){
		"http to the world":    func(c *Config) { c.URL = "http://pawl.example" },
		"no host":              func(c *Config) { c.URL = "https://" },
		"a path":               func(c *Config) { c.URL = "https://pawl.example/x" },
		"a short secret":       func(c *Config) { c.Secret = []byte("short") },
		"no store":             func(c *Config) { c.Store = nil },
		"a login over http":    func(c *Config) { c.Login = &Login{Issuer: "http://login.example", ClientID: "x"} },
		"a login of no client": func(c *Config) { c.Login = &Login{Issuer: "https://login.example"} },
	} {
		c := Config{Store: w.store, Blobs: w.blobs, URL: publicURL}
		if _, err := New(c); err != nil {
			t.Fatal(err)
		}
		change(&c)
		if _, err := New(c); err == nil {
			t.Errorf("%s was taken", name)
		}
	}
	c := Config{Store: w.store, Blobs: w.blobs, URL: "http://127.0.0.1:8080"}
	s, err := New(c)
	if err != nil || s.cookieName("x") != "x" {
		t.Errorf("on this machine: %v", err)
	}
}
