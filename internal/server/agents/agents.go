// Package agents gives the gateway of the fleet what it asks for: agents and refusals from the store, files from the blobs. It must not know
// what agents do.
package agents

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/fleet/gateway"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/server/blob"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// Keys finds agents in the store.
type Keys struct{ Store *store.Store }

var _ gateway.Keys = Keys{}

// Agent implements [gateway.Keys].
func (k Keys) Agent(ctx context.Context, key [sha256.Size]byte) (gateway.Agent, error) {
	return agentOf(k.Store.AgentByKey(ctx, key[:]))
}

// Enroll implements [gateway.Keys].
func (k Keys) Enroll(ctx context.Context, in job.Enrollment, key [sha256.Size]byte) (gateway.Agent, error) {
	return agentOf(k.Store.EnrollAgent(ctx, in.Code, key[:], in.Model, in.Devices))
}

// Describe implements [gateway.Keys].
func (k Keys) Describe(ctx context.Context, a gateway.Agent, h job.Host) (gateway.Agent, error) {
	id, err := strconv.ParseInt(a.ID, 10, 64)
	if err != nil {
		return gateway.Agent{}, err
	}
	return agentOf(k.Store.DescribeAgent(ctx, id, h))
}

// TakeOnly implements [gateway.Keys].
func (k Keys) TakeOnly(ctx context.Context, a gateway.Agent, lease string) error {
	id, err := strconv.ParseInt(a.ID, 10, 64)
	if err == nil {
		err = known(k.Store.TakeOnly(ctx, id, lease))
	}
	return err
}

func agentOf(a store.Agent, err error) (gateway.Agent, error) {
	if err != nil {
		return gateway.Agent{}, known(err)
	}
	g := gateway.Agent{ID: strconv.FormatInt(a.ID, 10), Tier: a.Tier, Host: a.Host}
	if a.Builds && a.Host.Tools != "" {
		g.Queues = append(g.Queues, job.BuilderQueue(a.Tier, a.Host.Tools))
	}
	for _, device := range a.Devices {
		g.Queues = append(g.Queues, job.Queue(device), job.BuildQueue(device))
	}
	return g, nil
}

// known turns errors of the store and the blobs into those of the gateway.
func known(err error) error {
	switch {
	case errors.Is(err, store.ErrNotFound), errors.Is(err, blob.ErrNotFound):
		return errors.Join(gateway.ErrUnknown, err)
	case errors.Is(err, blob.ErrMismatch), errors.Is(err, blob.ErrName):
		return errors.Join(gateway.ErrMismatch, err)
	default:
		if _, full := errors.AsType[*store.QuotaError](err); full {
			return fmt.Errorf("%w: %w", gateway.ErrFull, err)
		}
		return err
	}
}

// Blobs holds files of projects, which leases name by their slugs.
type Blobs struct {
	Store  *store.Store
	Bucket *blob.Bucket
}

var _ gateway.Blobs = Blobs{}

// Get implements [gateway.Blobs].
func (b Blobs) Get(ctx context.Context, project, digest string) (io.ReadCloser, error) {
	p, err := b.Store.Project(ctx, project)
	if err != nil {
		return nil, known(err)
	}
	r, err := b.Bucket.Get(ctx, p.ID, digest)
	if err != nil {
		return nil, known(err)
	}
	return r, nil
}

// Put implements [gateway.Blobs].
func (b Blobs) Put(ctx context.Context, project, digest string, r io.Reader, size int64) error {
	p, err := b.Store.Project(ctx, project)
	if err != nil {
		return known(err)
	}
	if err := b.Store.CheckBlobQuota(ctx, p.ID, size, client.Branch); err != nil {
		return known(err)
	}
	if err := b.Bucket.Put(ctx, p.ID, digest, r, size); err != nil {
		return known(err)
	}
	if _, err := b.Store.AddBlob(ctx, p.ID, digest, size, client.Branch); err != nil {
		return err
	}
	still, err := b.Bucket.Has(ctx, p.ID, digest)
	if err == nil && !still {
		err = errors.New("garbage collection just removed the bytes of an earlier upload")
	}
	return err
}

// Audit keeps refusals in the store, and logs them.
type Audit struct {
	Store *store.Store
	Log   *slog.Logger
}

var _ gateway.Audit = Audit{}

// Refused implements [gateway.Audit].
func (a Audit) Refused(ctx context.Context, r gateway.Refusal) {
	a.Log.WarnContext(ctx, "refused a request of an agent", "agent", r.Agent, "remote", r.Remote, "method", r.Method, "reason", r.Reason, "missed", r.Missed)
	if err := a.Store.AddAgentRefusal(ctx, store.AgentRefusal{Agent: r.Agent, Remote: r.Remote, Method: r.Method, Reason: r.Reason, Missed: r.Missed}); err != nil {
		a.Log.ErrorContext(ctx, "cannot record a refusal", "error", err)
	}
}
