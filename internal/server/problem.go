package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// Problem is an error response as defined by RFC 9457. Every handler returns it as its error: what was
// tried, why it failed, and what to do.
type Problem struct { //nolint:errname // what the RFC calls it
	Type   string `json:"type"` // urn:pawl:problem: and a stable word
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	// Request identifies the lines in the server's log.
	Request string `json:"request,omitempty"`
	// Missing lists the blobs to upload before the report.
	Missing []string `json:"missing,omitempty"`

	retry time.Duration // when to retry
	cause error         // for the log only
}

func (p *Problem) Error() string { return p.Title + ": " + p.Detail }

func (p *Problem) Unwrap() error { return p.cause }

// word returns the part of the type that identifies the problem.
func (p *Problem) word() string { return strings.TrimPrefix(p.Type, problemType) }

const problemType = "urn:pawl:problem:"

func problem(status int, word, format string, args ...any) *Problem {
	return &Problem{Type: problemType + word, Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(format, args...)}
}

func (p *Problem) after(d time.Duration) *Problem {
	p.retry = d
	return p
}

func badRequest(format string, args ...any) *Problem {
	return problem(http.StatusBadRequest, "bad-request", format, args...)
}

// explain converts any error to a Problem. An unknown error is the server's fault, and its details are not
// shown.
func explain(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if e, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return problem(http.StatusRequestEntityTooLarge, "too-large", "the body has more than %d bytes", e.Limit)
	}
	if e, ok := errors.AsType[*identity.RefusedError](err); ok {
		return problem(http.StatusUnauthorized, "token-"+string(e.Reason), "%s", e.Error())
	}
	if e, ok := errors.AsType[*store.MissingBlobsError](err); ok {
		p := problem(http.StatusUnprocessableEntity, "missing-blobs", "the report names %d blobs that were not sent: send them first, then the report again", len(e.Digests))
		p.Missing = e.Digests
		return p
	}
	if e, ok := errors.AsType[*store.QuotaError](err); ok {
		return problem(http.StatusTooManyRequests, "quota", "%s", e.Error()).after(time.Hour)
	}
	if e, ok := errors.AsType[*store.FullError](err); ok {
		return problem(http.StatusInsufficientStorage, "full", "%s", e.Error()).after(time.Hour)
	}
	if e, ok := errors.AsType[*store.InvalidError](err); ok {
		return problem(http.StatusUnprocessableEntity, "invalid", "%s", words.Sanitize(e.Error()))
	}
	for _, known := range []struct {
		err    error
		status int
		word   string
		retry  time.Duration
	}{
		{store.ErrNotFound, http.StatusNotFound, "not-found", 0},
		{store.ErrConflict, http.StatusConflict, "conflict", 0},
		{identity.ErrUnavailable, http.StatusServiceUnavailable, "issuer-unavailable", 5 * time.Second},
		{context.DeadlineExceeded, http.StatusServiceUnavailable, "busy", 5 * time.Second},
		{context.Canceled, statusGone, "hung-up", 0},
	} {
		if errors.Is(err, known.err) {
			return problem(known.status, known.word, "%s", words.Sanitize(err.Error())).after(known.retry)
		}
	}
	if p := outage(err); p != nil {
		return p
	}
	p := problem(http.StatusInternalServerError, "internal", "the server failed: see its log for the ID of this request")
	p.cause = err
	return p
}

// The words of problems that are the state of the server, not of one request.
const (
	wordUnavailable = "unavailable"
	wordDiskFull    = "disk-full"
)

// outage explains an error that means that the database or the disk is away; nil for any other.
func outage(err error) *Problem {
	var p *Problem
	switch {
	case store.DiskFull(err):
		p = problem(http.StatusInsufficientStorage, wordDiskFull, "the server has no disk space left, and stored nothing of this request: send it again later").after(time.Minute)
	case store.Unavailable(err):
		p = problem(http.StatusServiceUnavailable, wordUnavailable, "the server cannot reach its database or its file storage: try again").after(5 * time.Second)
	default:
		return nil
	}
	p.cause = err
	return p
}

// noteOutage logs the start of an outage, once, and its end. A request that succeeds ends it; a full disk
// needs one that stores something.
func (s *Server) noteOutage(ctx context.Context, p *Problem, stored bool) {
	switch {
	case p != nil && p.word() == wordUnavailable:
		if !s.unavailable.Swap(true) {
			s.log.ErrorContext(ctx, "the database or the file storage cannot be reached: requests are refused with 503", "error", p.cause)
		}
	case p != nil && p.word() == wordDiskFull:
		if !s.diskFull.Swap(true) {
			s.log.ErrorContext(ctx, "the disk is full: requests are refused with 507", "error", p.cause)
		}
	case p == nil:
		if s.unavailable.Load() && s.unavailable.Swap(false) {
			s.log.InfoContext(ctx, "the database and the file storage can be reached again")
		}
		if stored && s.diskFull.Load() && s.diskFull.Swap(false) {
			s.log.InfoContext(ctx, "the disk has space again")
		}
	}
}

// statusGone appears only in the log: the client has disconnected.
const statusGone = 499

// refuse answers with a problem: as JSON below /v1, as a page elsewhere.
func (s *Server) refuse(w http.ResponseWriter, r *http.Request, err error) {
	own := *explain(err) // a copy, because some problems are shared variables
	p, v := &own, requestInfoOf(r)
	p.Request = v.id
	v.problem = p
	if p.word() == wordUnavailable || p.word() == wordDiskFull {
		s.noteOutage(r.Context(), p, false)
	} else if p.cause != nil {
		s.log.ErrorContext(r.Context(), "request failed", "request", v.id, "route", v.route, "error", p.cause)
	}
	s.metrics.Refused(p.word())
	h := w.Header()
	if p.retry > 0 {
		h.Set("Retry-After", strconv.Itoa(int((p.retry+time.Second-1)/time.Second)))
	}
	h.Del("ETag")
	h.Set("Cache-Control", "no-store")
	if !strings.HasPrefix(r.URL.Path, "/v1/") {
		s.refusePage(w, r, p)
		return
	}
	if p.Status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="pawl"`)
	}
	h.Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	if text, err := encode(p); err == nil {
		_, _ = w.Write(text)
	}
}
