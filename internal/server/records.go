package server

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/blob"
	"github.com/goatnote-inc/pawl/internal/parcel"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/internal/samples"
	"github.com/goatnote-inc/pawl/internal/store"
	"github.com/goatnote-inc/pawl/measure"
)

// What a record may hold when it is unpacked here. Larger ones are handed out as the
// files that they are.
const (
	maxRecord  = 64 << 20
	maxSamples = 64 << 20 // of the file
	maxPayload = 32 << 20 // of the samples in it, unpacked: a number each, of eight bytes
	maxRatio   = 100
)

// recordLimits are looked at before anything is made of a record: {} are two bytes, and a
// round in memory is hundreds.
var recordLimits = parcel.JSONLimits{
	Bytes: maxRecord, Depth: 32, Lists: 400_000, Strings: 4_000_000, Letters: 48 << 20, Longest: 1 << 20, Numbers: 8_000_000,
}

// errNoRecord says that a run has no record any more, or never had one.
var errNoRecord = problem(http.StatusNotFound, "no-record", "the run's record was not sent, or is not kept any more")

// getRecord gives the record of a run, whole: its document with the samples put back
// where they are still kept.
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
	done, err := s.unpacking(r.Context())
	if err != nil {
		return err
	}
	defer done()
	record, err := s.record(r.Context(), p.ID, run)
	if err != nil {
		return err
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Disposition", fmt.Sprintf(`attachment; filename="run-%d.json"`, run.ID))
	if err := measure.Write(s.patient(w), record); err != nil {
		s.cutOff(r, "a record", err)
	}
	return nil
}

// cutOff ends an answer that has begun and cannot be finished: half of it must not look
// like all of it. Mostly it is the client that went away.
func (s *Server) cutOff(r *http.Request, what string, err error) {
	level := slog.LevelWarn
	if errors.Is(err, blob.ErrDamaged) {
		level = slog.LevelError
	}
	s.log.Log(r.Context(), level, what+" was cut off", "request", visitOf(r).id, "error", err)
	panic(http.ErrAbortHandler)
}

// unpacking takes one of the places of requests that hold records, until done is called.
// A stranger may have made them as large as they can be, and anybody may ask for those of
// a public project: without a limit, a few requests would take all the memory there is.
func (s *Server) unpacking(ctx context.Context) (done func(), err error) {
	waiting, cancel := context.WithTimeout(ctx, s.limits.Wait)
	defer cancel()
	// A free place is a free place, also for who comes to it when the time is over.
	if !s.records.TryAcquire(1) && s.records.Acquire(waiting, 1) != nil {
		return nil, problem(http.StatusServiceUnavailable, "busy", "as many records are being read as there is memory for: ask again").after(time.Second)
	}
	return func() { s.records.Release(1) }, nil
}

func blobOf(run client.Run, kind client.BlobKind) (client.Blob, bool) {
	for _, b := range run.Blobs {
		if b.Kind == kind {
			return b, true
		}
	}
	return client.Blob{}, false
}

// record rebuilds the record of a run from what was sent with it, for who is [unpacking].
// It is a stranger's: nothing of it is believed but that it is what they sent.
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
		return record, nil // samples go before the record does
	}
	if err != nil {
		return nil, err
	}
	defer from.Close()
	data, err := io.ReadAll(io.LimitReader(from, maxSamples))
	if err != nil {
		return nil, err
	}
	whole, err := samples.JoinAtMost(record, data, maxPayload)
	if errors.Is(err, samples.ErrTooLarge) {
		return nil, tooLarge(which)
	}
	if err != nil {
		return nil, damaged(err)
	}
	return whole, nil
}

// unpack reads a compressed file of a run, within bounds: once to see what would become
// of it, and once more for that.
func (s *Server) unpack(ctx context.Context, project int64, which client.Blob, read func(io.Reader) error) error {
	check := func(document io.Reader) error { return parcel.CheckJSON(document, recordLimits) }
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
	return problem(http.StatusUnprocessableEntity, "too-large", "the %s is too large to be shown: its file is below blobs/%s", which.Kind, which.Digest)
}

// damaged is for files that are what was sent, and were no good then.
func damaged(err error) error {
	return problem(http.StatusUnprocessableEntity, "damaged", "the sender's file cannot be read: %s", report.Plain(err.Error()))
}
