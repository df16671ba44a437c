package gateway_test

import (
	"encoding/base64"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/fleet/gateway"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
)

// Files that arrive together count against the quota of the project only when they are stored, so an agent sends few at a time.
func TestGateway_FewFilesAtATime(t *testing.T) {
	w := newWorld(t)
	token, x := w.token(t, "raw"), []byte("x")
	put := func() int {
		return w.http(t, http.MethodPut, job.DocumentPath+digestOf(x), "key-a", token, x).code
	}
	contents := make(chan *io.PipeWriter, gateway.MaxFiles)
	var held sync.WaitGroup
	for range gateway.MaxFiles {
		held.Go(func() {
			body, rest := io.Pipe()
			contents <- rest
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://"+w.address+job.DocumentPath+digestOf(x), body)
			if err != nil {
				t.Error(err)
				return
			}
			req.ContentLength = int64(len(x))
			req.Header.Set("Authorization", "Bearer key-a")
			req.Header.Set(job.LeaseHeader, base64.StdEncoding.EncodeToString(token))
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Error(err)
				return
			}
			res.Body.Close()
			if res.StatusCode != http.StatusNoContent {
				t.Errorf("a file that was accepted: %s", res.Status)
			}
		})
	}
	await.True(t, "the files to be on their way", func() bool { return w.files.begun.Load() == gateway.MaxFiles })
	if code := put(); code != http.StatusTooManyRequests {
		t.Errorf("one file more: %d", code)
	}
	for range gateway.MaxFiles {
		rest := <-contents
		if _, err := rest.Write(x); err != nil {
			t.Error(err)
		}
		rest.Close()
	}
	held.Wait()
	if code := put(); code != http.StatusNoContent {
		t.Errorf("the next file: %d", code)
	}
}
