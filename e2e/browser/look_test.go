package browser_test

import (
	"os"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/server/demo"
)

// PAWL_LOOK=PORT go test ./e2e/browser -run Look serves the made-up year until it is
// stopped, or for an hour.
func TestLook(t *testing.T) {
	if os.Getenv("PAWL_LOOK") == "" {
		t.Skip("PAWL_LOOK says on which port")
	}
	s := newSite(t)
	began := time.Now()
	s.fill(t, demo.Size{Commits: 2})
	t.Logf("%s/p/kernels after %v", s.url, time.Since(began))
	os.Stderr.WriteString(s.url + "\n")
	select {
	case <-time.After(time.Hour):
	case <-t.Context().Done():
	}
}
