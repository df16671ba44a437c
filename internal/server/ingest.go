package server

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// ingestTimeout limits how long storing a report may take. Storing continues if the client disconnects:
// the client retries and gets the receipt.
const ingestTimeout = 30 * time.Second

// postReport stores a report. The report is parsed only after its sender is authenticated. A job's token
// is bound to the bytes of the body, so these are read first, within limits.
func (s *Server) postReport(w http.ResponseWriter, r *http.Request, _ store.Project) error {
	from := requestInfoOf(r).sender
	body, release, err := s.readBody(w, r, from.project.ID, client.MaxReport)
	if err != nil {
		return err
	}
	defer release()
	digest := sha256.Sum256(body)
	if err := s.grant(r, from, digest); err != nil {
		return err
	}
	in, err := s.decode(r, body)
	if err != nil {
		return err
	}
	in.Body = digest
	if in.Lane, err = from.lane(in.Report); err != nil {
		return err
	}
	in.Sender = from.provenance()
	receipt, err := s.ingest(r.Context(), from.project.ID, in)
	if err != nil {
		return err
	}
	s.metrics.Ingested(receipt.Points, receipt.Again)
	receipt.URL = s.url.JoinPath("p", from.project.Slug, "runs", fmt.Sprint(receipt.Report)).String()
	status := http.StatusCreated
	if receipt.Again {
		status = http.StatusOK
	}
	w.Header().Set("Location", fmt.Sprintf("/v1/projects/%s/runs/%d", from.project.Slug, receipt.Report))
	return answer(w, status, receipt)
}

// readBody reads a JSON body of at most most bytes. All bodies being read share a memory budget, and each
// project gets a part of it. A body takes its memory as it arrives, so a slow sender holds little. When the
// budget is used up, the client must retry later.
func (s *Server) readBody(w http.ResponseWriter, r *http.Request, project, most int64) (body []byte, release func(), err error) {
	if err := wantJSON(r); err != nil {
		return nil, nil, err
	}
	size := r.ContentLength
	if size > most {
		return nil, nil, problem(http.StatusRequestEntityTooLarge, "too-large", "the report has %d bytes, the limit is %d: send fewer cases at a time", size, most)
	}
	buffer, _ := bodies.Get().(*bytes.Buffer) // the pool holds only buffers
	var parts []int64                         // of the budget
	release = func() {
		for _, n := range parts {
			s.bodies.give(project, n)
		}
		if buffer.Cap() <= bodyKept {
			buffer.Reset()
			bodies.Put(buffer)
		}
	}
	buffer.Grow(int(min(max(size, 0), bodyKept-bytes.MinRead)) + bytes.MinRead)
	from := s.paced(w, http.MaxBytesReader(w, r.Body, most))
	for held := int64(0); ; {
		if int64(buffer.Len()) == held && held < most {
			more := min(max(bodyPart, held), most-held)
			if !s.bodies.try(project, more) {
				release()
				return nil, nil, busy()
			}
			parts, held = append(parts, more), held+more
		}
		// A body as long as allowed still has to end.
		_, err := io.CopyN(buffer, from, max(1, held-int64(buffer.Len())))
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			release()
			return nil, nil, unreadable(err)
		}
	}
	readAnyTime(w)
	return buffer.Bytes(), release, nil
}

// bodies reuses buffers: decoded values do not refer to their bytes. Large ones are rare.
var bodies = sync.Pool{New: func() any { return new(bytes.Buffer) }}

const (
	bodyKept = 256 << 10
	bodyPart = 64 << 10 // memory that a body takes first; each next part doubles it
)

// unreadable explains why a body did not arrive. The cause is always the sender or the network.
func unreadable(err error) error {
	if _, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return err
	}
	if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
		return problem(http.StatusRequestTimeout, "slow", "the body did not arrive in time: send it again")
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, context.Canceled) {
		return badRequest("the body ended early: send it again")
	}
	return badRequest("cannot read the body: %s", words.Sanitize(err.Error()))
}

func (s *Server) decode(r *http.Request, body []byte) (store.Incoming, error) {
	rep, err := client.Decode(body, s.now())
	if errors.Is(err, client.ErrTooLarge) {
		return store.Incoming{}, problem(http.StatusRequestEntityTooLarge, "too-large", "%s", err.Error())
	}
	if err != nil {
		return store.Incoming{}, problem(http.StatusBadRequest, "report", "%s", words.Sanitize(err.Error()))
	}
	key := client.Key(rep)
	if said := r.Header.Get("Idempotency-Key"); said != "" && said != key {
		return store.Incoming{}, problem(http.StatusBadRequest, "idempotency-key", "Idempotency-Key does not match run %s: it must be the SHA-256 of %q, a newline and the run's name, in hex", words.Sanitize(rep.Run), client.SchemaReport)
	}
	return store.Incoming{Key: key, Report: rep}, nil
}

func (s *Server) ingest(ctx context.Context, project int64, in store.Incoming) (client.Receipt, error) {
	if !s.ingests.try(project, 1) {
		waiting, cancel := context.WithTimeout(ctx, s.limits.Wait)
		defer cancel()
		if err := s.ingests.wait(waiting, project); err != nil {
			return client.Receipt{}, busy()
		}
	}
	defer s.ingests.give(project, 1)
	storing, done := context.WithTimeout(context.WithoutCancel(ctx), ingestTimeout)
	defer done()
	receipt, err := s.store.Ingest(storing, project, in)
	if errors.Is(err, store.ErrConflict) {
		return receipt, problem(http.StatusConflict, "conflict", "run %s was already reported with different contents: one run has one report", words.Sanitize(in.Report.Run))
	}
	return receipt, err
}

func busy() *Problem {
	return problem(http.StatusServiceUnavailable, "busy", "the server is busy with other reports: send this one again").after(time.Second)
}

// wantJSON refuses bodies that are not plain JSON. Compressed bodies are not accepted.
func wantJSON(r *http.Request) error {
	media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || media != "application/json" {
		return problem(http.StatusUnsupportedMediaType, "media-type", "Content-Type: must be application/json")
	}
	if e := r.Header.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return problem(http.StatusUnsupportedMediaType, "encoding", "Content-Encoding: must not be set")
	}
	return nil
}

// digestOf parses the digest in a path.
func digestOf(r *http.Request) (string, identity.Digest, error) {
	text := r.PathValue("digest")
	var d identity.Digest
	if sum, err := hex.DecodeString(text); err != nil || copy(d[:], sum) != len(d) || d.String() != text {
		return "", d, badRequest("the digest %s must be a SHA-256 in lowercase hexadecimal", words.Sanitize(text))
	}
	return text, d, nil
}
