package store

import (
	"context"
	"encoding/hex"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/server/store/db"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// AddBlob records that a blob is stored and counts it toward the project's quota. fresh
// reports whether it was new. Store the bytes first: a record without bytes would be false.
// Check that the bytes exist once more afterwards: [Store.DropBytes] may have removed them as
// orphans before they were recorded; once they are recorded, it cannot.
func (s *Store) AddBlob(ctx context.Context, project int64, digest string, size int64, lane client.Lane) (fresh bool, err error) {
	sum, err := digestOf(digest)
	if err != nil {
		return false, err
	}
	var n int64
	err = s.db.InProjectWith(ctx, project, lockBlob(project, digest), func(tx pgx.Tx) (err error) {
		n, err = db.New(tx).AddBlob(ctx, db.AddBlobParams{ProjectID: project, Digest: sum, Size: size, Created: s.db.Now(), Fork: lane == client.Fork})
		return err
	})
	if err != nil {
		return false, fmt.Errorf("cannot record blob %s: %w", digest, err)
	}
	failpoint.At("blob.noted")
	if n > 0 {
		s.quotas.add(project, lane, 0, size)
	}
	return n > 0, nil
}

// HasBlob reports whether a blob of the project is recorded, and its size.
func (s *Store) HasBlob(ctx context.Context, project int64, digest string) (size int64, ok bool, err error) {
	sum, err := digestOf(digest)
	if err != nil {
		return 0, false, err
	}
	size, err = db.New(s.db.Of(project)).BlobSize(ctx, db.BlobSizeParams{ProjectID: project, Digest: sum})
	if pg.None(err) {
		return 0, false, nil
	}
	return size, true, pg.Wrap(err, "cannot look up blob %s", digest)
}

// CheckBlobQuota returns a [QuotaError] if a blob of this size would exceed the project's quota.
func (s *Store) CheckBlobQuota(ctx context.Context, project, size int64, lane client.Lane) error {
	if err := s.checkSize(ctx); err != nil {
		return err
	}
	return s.quotas.check(ctx, s, project, lane, 0, size)
}

// lockBlob returns the statement that starts a transaction which records a blob or removes its
// bytes, so that the two exclude each other. The caller has checked that the digest is hex.
func lockBlob(project int64, digest string) string {
	return fmt.Sprintf("; select pg_advisory_xact_lock(hashtextextended('pawl.blob %s', %d))", digest, project)
}

func digestOf(text string) ([]byte, error) {
	sum, err := hex.DecodeString(text)
	if err != nil || len(sum) != 32 || hex.EncodeToString(sum) != text {
		return nil, &pg.InvalidError{What: fmt.Sprintf("%.80q is not a digest: must be a SHA-256 of 64 lowercase hex digits", text)}
	}
	return sum, nil
}
