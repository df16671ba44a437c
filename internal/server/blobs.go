package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/server/blob"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// blobSender returns the sender of a blob, and the blob's digest. A job's token is bound to the digest in
// the path; the bytes are checked against that digest as they arrive.
func (s *Server) blobSender(r *http.Request) (*sender, string, error) {
	text, digest, err := digestOf(r)
	if err != nil {
		return nil, "", err
	}
	from := requestInfoOf(r).sender
	return from, text, s.grant(r, from, digest)
}

func (s *Server) headBlob(w http.ResponseWriter, r *http.Request, _ store.Project) error {
	from, digest, err := s.blobSender(r)
	if err != nil {
		return err
	}
	there, err := s.hasBlob(r.Context(), from.project.ID, digest)
	if err != nil {
		return err
	}
	if !there {
		return problem(http.StatusNotFound, "not-found", "there is no such blob")
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

// hasBlob reports whether a blob is recorded and its bytes exist. If the bytes were lost (a restore
// without the bucket, an accidental deletion), uploading them again fixes it.
func (s *Server) hasBlob(ctx context.Context, project int64, digest string) (bool, error) {
	if _, noted, err := s.store.HasBlob(ctx, project, digest); err != nil || !noted {
		return false, err
	}
	return s.blobs.Has(ctx, project, digest)
}

// postBlob stores a file that a report will name. It stores the bytes before it records them, so that
// recorded blobs always exist. Bytes that are not recorded are collected.
func (s *Server) postBlob(w http.ResponseWriter, r *http.Request, _ store.Project) error {
	from, digest, err := s.blobSender(r)
	if err != nil {
		return err
	}
	size := r.ContentLength
	switch {
	case size < 0:
		return problem(http.StatusLengthRequired, "length", "Content-Length is required")
	case size > client.MaxBlob:
		return problem(http.StatusRequestEntityTooLarge, "too-large", "the blob has %d bytes, the limit is %d", size, client.MaxBlob)
	case r.Header.Get("Content-Encoding") != "":
		return problem(http.StatusUnsupportedMediaType, "encoding", "Content-Encoding: must not be set; the digest is of the bytes as they are sent")
	}
	project := from.project.ID
	kept := blobAnswer{Digest: digest, Size: size}
	if there, err := s.hasBlob(r.Context(), project, digest); err != nil || there {
		if err != nil {
			return err
		}
		return answer(w, http.StatusOK, kept)
	}
	if err := s.store.CheckBlobQuota(r.Context(), project, size, from.blobLane()); err != nil {
		return err
	}
	if !s.uploads.try(project, 1) {
		return busy()
	}
	defer s.uploads.give(project, 1)
	body := &errorRecorder{from: s.paced(w, http.MaxBytesReader(w, r.Body, size))}
	if err := s.blobs.Put(r.Context(), project, digest, body, size); err != nil {
		return blobRefused(err, body)
	}
	readAnyTime(w)
	fresh, err := s.store.AddBlob(r.Context(), project, digest, size, from.blobLane())
	if err != nil {
		return err
	}
	if still, err := s.blobs.Has(r.Context(), project, digest); err != nil || !still {
		if err != nil {
			return err
		}
		return busy() // garbage collection just removed the bytes of an earlier upload, and these with them
	}
	status := http.StatusOK
	if fresh {
		status = http.StatusCreated
	}
	return answer(w, status, kept)
}

// blobRefused decides whether the client or the server caused a failed upload.
func blobRefused(err error, body *errorRecorder) error {
	switch {
	case body.err != nil:
		return unreadable(body.err)
	case errors.Is(err, blob.ErrMismatch):
		return problem(http.StatusUnprocessableEntity, "digest", "%s", words.Sanitize(err.Error()))
	default:
		return fmt.Errorf("cannot store a blob: %w", err)
	}
}

// errorRecorder remembers the error of a reader, because the bucket wraps it beyond recognition.
type errorRecorder struct {
	from io.Reader
	err  error
}

func (h *errorRecorder) Read(p []byte) (int, error) {
	n, err := h.from.Read(p)
	if err != nil && err != io.EOF {
		h.err = err
	}
	return n, err
}

type blobAnswer struct {
	Digest string `json:"digest"`
	Size   int64  `json:"size"`
}

// getBlob serves a file as it was sent. The content is untrusted: a browser must save it, not render it.
func (s *Server) getBlob(w http.ResponseWriter, r *http.Request, p store.Project) error {
	digest, _, err := digestOf(r)
	if err != nil {
		return err
	}
	size, there, err := s.store.HasBlob(r.Context(), p.ID, digest)
	if err != nil {
		return err
	}
	if !there {
		return problem(http.StatusNotFound, "not-found", "there is no such blob")
	}
	return s.sendBlob(w, r, p.ID, digest, size)
}

func (s *Server) sendBlob(w http.ResponseWriter, r *http.Request, project int64, digest string, size int64) error {
	if unchanged(w, r, `"`+digest+`"`) {
		return nil
	}
	from, err := s.blobs.Get(r.Context(), project, digest)
	if errors.Is(err, blob.ErrNotFound) {
		return problem(http.StatusNotFound, "not-found", "the blob is no longer stored")
	}
	if err != nil {
		return err
	}
	defer from.Close()
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="`+digest[:16]+`"`)
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("Content-Length", strconv.FormatInt(size, 10))
	if err := copyWhole(w, from, size); err != nil {
		s.abortResponse(r, "a blob", err)
	}
	return nil
}

// copyWhole holds back the last byte until the bucket has verified the digest. Otherwise a client that
// received the announced length could not notice damage.
func copyWhole(w io.Writer, from io.Reader, size int64) error {
	if _, err := io.CopyN(w, from, max(0, size-1)); err != nil {
		return err
	}
	rest, err := io.ReadAll(io.LimitReader(from, 2))
	if err != nil {
		return err
	}
	if int64(len(rest)) != min(1, size) {
		return fmt.Errorf("%w: it does not have the %d bytes that were recorded", blob.ErrDamaged, size)
	}
	_, err = w.Write(rest)
	return err
}
