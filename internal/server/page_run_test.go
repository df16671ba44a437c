package server

import (
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/demo"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// A run's page has its results, what a profile says about them, and its files. Without a readable profile it has the rest.
func TestRunPage(t *testing.T) {
	w := newWorld(t)
	key := w.key(w.project("kernels", true), store.ScopeReportMain)
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	send := func(n int, whys string) string {
		t.Helper()
		r := example(n, 2)
		files, err := demo.Files(r)
		if err != nil {
			t.Fatal(err)
		}
		bodies := [][]byte{}
		for _, f := range files {
			bodies = append(bodies, f.Data)
		}
		if whys != "" {
			body := z.EncodeAll([]byte(whys), nil)
			r.Blobs = append(r.Blobs, client.Blob{Digest: digest(body), Size: int64(len(body)), Kind: client.BlobWhy, Name: "whys.json.zst"})
			bodies = append(bodies, body)
		}
		for _, body := range bodies {
			if a := w.do(asked{method: "POST", path: "/v1/projects/kernels/blobs/" + digest(body), key: key, body: body}); a.StatusCode > 201 {
				t.Fatalf("%d %s", a.StatusCode, a.body)
			}
		}
		return string(w.want(200, asked{path: fmt.Sprintf("/p/kernels/runs/%d", w.sent("kernels", key, r).Report)}).body)
	}
	page := send(1, `[{"case": "attention/D0", "difference": {"sentence": "Registers per thread rose from 168 to 192 <b>.", "causes": [], "changes": []}, "files": ["a.ncu-rep"]}]`)
	for _, want := range []string{"<h1>All 2 cases held</h1>", "Registers per thread rose from 168 to 192 &lt;b&gt;", "/v1/projects/kernels/runs/1/record", "/v1/projects/kernels/blobs/", "whys.json.zst", `compare?b=run-1"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not have %q:\n%s", want, page)
		}
	}
	for n, whys := range []string{"", "null", "[null]", "[{}]", `[{"case": "attention/D0", "difference": null, "diagnosis": {}}]`, `{"case": 1}`, "no JSON", strings.Repeat("[", 1000)} {
		if page := send(10+n, whys); !strings.Contains(page, `id="histories"`) {
			t.Errorf("with the reasons %.40q the report is missing:\n%s", whys, page)
		}
	}
}
