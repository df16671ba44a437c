package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/archive"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/server/blob"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/measure/samplecodec"
)

// Limits for records that are unpacked here. Larger ones are served only as files.
const (
	maxRecord  = 64 << 20
	maxSamples = 64 << 20 // size of the file
	maxPayload = 32 << 20 // size of its unpacked samples, eight bytes each
	maxRatio   = 100
	maxPacked  = 64 << 20 // size of a whole record, packed to be sent
)

// recordLimits is checked before a record is decoded: {} is two bytes of JSON, but a round in memory is
// hundreds.
var recordLimits = archive.JSONLimits{
	Bytes: maxRecord, Depth: 32, Lists: 400_000, Strings: 4_000_000, Letters: 48 << 20, Longest: 1 << 20, Numbers: 8_000_000,
}

// errNoRecord means that the record of a run was not sent or is no longer kept.
var errNoRecord = problem(http.StatusNotFound, "no-record", "the run's record was not sent, or is no longer stored")

// getRecord returns the complete record of a run: its document, with the samples restored if they are still
// kept.
func (s *Server) getRecord(w http.ResponseWriter, r *http.Request, p store.Project) error {
	run, err := s.runOf(r, p)
	if err != nil {
		return err
	}
	which, ok := blobOf(run, client.BlobRecord)
	if !ok {
		return errNoRecord
	}
	if unchanged(w, r, `"record-`+which.Digest+`"`) {
		return nil
	}
	packed, err := s.packRecord(r.Context(), p.ID, run)
	if err != nil {
		return err
	}
	defer s.packed.give(p.ID, int64(len(packed)))
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="run-%d.json"`, run.ID))
	if err := unpackTo(w, packed); err != nil {
		s.abortResponse(r, "a record", err)
	}
	return nil
}

// packRecord returns the record of a run as packed JSON. The record itself is released before the first byte
// is sent: however slowly a client reads, it holds only the packed bytes, which the caller returns to
// s.packed.
func (s *Server) packRecord(ctx context.Context, project int64, run client.Run) ([]byte, error) {
	done, err := s.unpacking(ctx, project)
	if err != nil {
		return nil, err
	}
	defer done()
	record, err := s.record(ctx, project, run)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true))
	if err != nil {
		return nil, err
	}
	if err := errors.Join(measure.Write(z, record), z.Close()); err != nil {
		return nil, err
	}
	if b.Len() > maxPacked {
		which, _ := blobOf(run, client.BlobRecord)
		return nil, tooLarge(which)
	}
	if !s.packed.try(project, int64(b.Len())) {
		return nil, busyRecords()
	}
	return bytes.Clone(b.Bytes()), nil
}

func unpackTo(w io.Writer, packed []byte) error {
	z, err := zstd.NewReader(bytes.NewReader(packed), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return err
	}
	defer z.Close()
	_, err = io.Copy(w, z)
	return err
}

func busyRecords() *Problem {
	return problem(http.StatusServiceUnavailable, "busy", "too many records are being read at once: try again").after(time.Second)
}

// abortResponse ends a response that was started and cannot be finished: a part must not look complete. Usually
// the client has disconnected.
func (s *Server) abortResponse(r *http.Request, what string, err error) {
	level := slog.LevelWarn
	if errors.Is(err, blob.ErrDamaged) {
		level = slog.LevelError
	}
	s.log.Log(r.Context(), level, what+" was cut off", "request", requestInfoOf(r).id, "error", err)
	panic(http.ErrAbortHandler)
}

// unpacking takes one of the slots for requests that hold records, until done is called. Untrusted clients
// may have made records as large as allowed, and anyone may request those of a public project. Without a
// limit, a few requests would use all memory. No project gets all slots, and none is held while bytes are sent.
func (s *Server) unpacking(ctx context.Context, project int64) (done func(), err error) {
	if !s.records.try(project, 1) {
		waiting, cancel := context.WithTimeout(ctx, s.limits.Wait)
		defer cancel()
		if s.records.wait(waiting, project) != nil {
			return nil, busyRecords()
		}
	}
	return func() { s.records.give(project, 1) }, nil
}

func blobOf(run client.Run, kind client.BlobKind) (client.Blob, bool) {
	for _, b := range run.Blobs {
		if b.Kind == kind {
			return b, true
		}
	}
	return client.Blob{}, false
}

// record rebuilds the record of a run from the files sent with it. The caller must hold [unpacking]. The
// content is untrusted: it is only known to be what the sender sent.
func (s *Server) record(ctx context.Context, project int64, run client.Run) (*measure.Run, error) {
	which, ok := blobOf(run, client.BlobRecord)
	if !ok {
		return nil, errNoRecord
	}
	var record *measure.Run
	err := s.unpack(ctx, project, which, func(document io.Reader) (err error) {
		record, err = measure.Scan(document, func(c *measure.Case, r measure.CaseRound) error {
			c.Rounds = append(c.Rounds, r)
			return nil
		})
		return err
	})
	if err != nil {
		return nil, err
	}
	which, ok = blobOf(run, client.BlobSamples)
	if !ok || which.Size > maxSamples {
		return record, nil
	}
	from, err := s.blobs.Get(ctx, project, which.Digest)
	if errors.Is(err, blob.ErrNotFound) {
		return record, nil // samples are deleted before the record
	}
	if err != nil {
		return nil, err
	}
	defer from.Close()
	data, err := io.ReadAll(io.LimitReader(from, maxSamples))
	if err != nil {
		return nil, err
	}
	whole, err := samplecodec.JoinLimited(record, data, maxPayload)
	if errors.Is(err, samplecodec.ErrTooLarge) {
		return nil, tooLarge(which)
	}
	if err != nil {
		return nil, damaged(err)
	}
	return whole, nil
}

// unpack reads a compressed file of a run within limits. It reads the file twice: first to check the limits,
// then to decode it.
func (s *Server) unpack(ctx context.Context, project int64, which client.Blob, read func(io.Reader) error) error {
	check := func(document io.Reader) error { return archive.CheckJSON(document, recordLimits) }
	if err := s.unpackOnce(ctx, project, which, check); err != nil {
		return err
	}
	return s.unpackOnce(ctx, project, which, read)
}

func (s *Server) unpackOnce(ctx context.Context, project int64, which client.Blob, read func(io.Reader) error) error {
	from, err := s.blobs.Get(ctx, project, which.Digest)
	if errors.Is(err, blob.ErrNotFound) {
		return errNoRecord
	}
	if err != nil {
		return err
	}
	defer from.Close()
	z, err := zstd.NewReader(from, zstd.WithDecoderMaxWindow(8<<20), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	if err != nil {
		return damaged(err)
	}
	defer z.Close()
	bounded := &io.LimitedReader{R: z, N: min(maxRecord, max(1<<20, which.Size*maxRatio))}
	if err := read(bounded); err != nil {
		if bounded.N <= 0 {
			return tooLarge(which)
		}
		return damaged(err)
	}
	return nil
}

func tooLarge(which client.Blob) error {
	return problem(http.StatusUnprocessableEntity, "too-large", "the %s is too large to show: its file is at blobs/%s", which.Kind, which.Digest)
}

// damaged is the error for files that were already unreadable when they were sent.
func damaged(err error) error {
	return problem(http.StatusUnprocessableEntity, "damaged", "the sender's file cannot be read: %s", words.Sanitize(err.Error()))
}
