package daemon

import (
	"context"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/server/blob"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// collect removes files that the database does not list: their upload was cut off, or their project was
// deleted. pawld fsck --collect does the same after its other checks.
func collect(ctx context.Context, s *store.Store, b *blob.Bucket, now time.Time) error {
	for project, err := range b.Projects(ctx) {
		if err != nil {
			return err
		}
		for o, err := range b.All(ctx, project) {
			if err != nil {
				return err
			}
			if now.Sub(o.Modified) < store.BlobGrace {
				continue
			}
			_, known, err := s.HasBlob(ctx, project, o.Digest)
			if err != nil {
				return err
			}
			if known {
				continue
			}
			failpoint.At("collect.orphan")
			if _, err := s.DropBytes(ctx, project, o.Digest, b.Delete); err != nil {
				return err
			}
		}
	}
	return nil
}
