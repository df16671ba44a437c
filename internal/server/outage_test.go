package server

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/goatnote-inc/pawl/internal/server/store"
)

func TestOutage_ByError(t *testing.T) {
	for _, test := range []struct {
		err    error
		status int
		word   string
	}{
		{&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, http.StatusServiceUnavailable, wordUnavailable},
		{fmt.Errorf("cannot store a blob: %w", syscall.ENOSPC), http.StatusInsufficientStorage, wordDiskFull},
		{&store.FullError{Limit: 1}, http.StatusInsufficientStorage, "full"},
		{errors.New("anything"), http.StatusInternalServerError, "internal"},
	} {
		p := explain(test.err)
		if p.Status != test.status || p.word() != test.word || (p.retry == 0) != (test.status == http.StatusInternalServerError) {
			t.Errorf("%v: %d %s, again after %v", test.err, p.Status, p.word(), p.retry)
		}
	}
}

// The start and the end of an outage are one line of the log each.
func TestOutage_LogsItsStartAndEnd(t *testing.T) {
	w := newWorld(t)
	key := w.key(w.project("kernels", true), store.ScopeReport)
	away := explain(&net.OpError{Op: "dial", Err: syscall.ECONNREFUSED})
	full := explain(syscall.ENOSPC)
	for range 3 {
		w.server.noteOutage(w.ctx(), away, false)
		w.server.noteOutage(w.ctx(), full, false)
	}
	for range 2 {
		w.want(http.StatusOK, asked{path: "/v1/projects/kernels/series"})
	}
	for text, want := range map[string]int{"cannot be reached:": 1, "can be reached again": 1, "the disk is full:": 1, "the disk has space again": 0} {
		if got := strings.Count(w.log.String(), text); got != want {
			t.Errorf("%q is in the log %d times, want %d", text, got, want)
		}
	}
	w.sent("kernels", key, example(1, 1))
	if got := strings.Count(w.log.String(), "the disk has space again"); got != 1 {
		t.Errorf("the end of a full disk is in the log %d times", got)
	}
}
