package server

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// Bodies as released clients send them are taken as long as pawl.report/v1 is: what they
// leave out stays optional, and what they send stays known. A new version adds files to
// testdata/wire and changes none.
func TestOlderClients(t *testing.T) {
	w := newWorld(t)
	p := w.project("kernels", true)
	key := w.key(p, store.ScopeReportMain)
	files, err := filepath.Glob("testdata/wire/*.json")
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		body, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		a := w.do(asked{method: "POST", path: "/v1/projects/kernels/reports", key: key, body: body})
		if a.StatusCode != http.StatusCreated {
			t.Errorf("%s: %d %s", file, a.StatusCode, a.body)
			continue
		}
		var receipt client.Receipt
		a.into(t, &receipt)
		var points page[client.RunPoint]
		w.want(200, asked{path: "/v1/projects/kernels/runs/" + fmt.Sprint(receipt.Report) + "/points"}).into(t, &points)
		if receipt.Points == 0 || len(points.Items) != receipt.Points {
			t.Errorf("%s: %d points, %d are kept", file, receipt.Points, len(points.Items))
		}
	}
}
