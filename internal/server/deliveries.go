package server

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/oklog/ulid/v2"

	"github.com/goatnote-inc/pawl/internal/base/signature"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/fleet/gate"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
)

// maxDelivery bounds a webhook in bytes. A pull request has about thirty kilobytes; a push lists its commits.
const maxDelivery = 5 << 20

// postDelivery takes a webhook of a project's forge. Only what is signed with the project's secret is read, and of that
// only which change has happened: settings of the project decide whether it is gated, and the forge is asked what it is.
func (s *Server) postDelivery(w http.ResponseWriter, r *http.Request, _ store.Project) error {
	gates, err := s.gates()
	if err != nil {
		return err
	}
	if s.webhooks == nil {
		return problem(http.StatusNotFound, "not-found", "this server gates no changes of a forge")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxDelivery))
	if err != nil {
		return unreadable(err)
	}
	p, g, err := s.gatedProject(r.Context(), gates, r.PathValue("project"))
	if err != nil {
		return err
	}
	if !signature.Valid([]byte(g.Secret), body, r.Header.Get(s.webhooks.Signature)) {
		return problem(http.StatusUnauthorized, "credentials", "the signature is not that of a forge of this project")
	}
	d, ok, err := s.webhooks.Read(r.Header.Get(s.webhooks.Event), body)
	if err != nil {
		return badRequest("%s", words.Sanitize(err.Error()))
	}
	change := ""
	if ok {
		change = gatedChange(g, d)
	}
	if change == "" {
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	digest := sha256.Sum256(body) // not the ID of the delivery, which is not signed
	seen, err := gates.HasDelivery(r.Context(), p.ID, digest[:])
	if err != nil {
		return err
	}
	if seen {
		return problem(http.StatusConflict, "conflict", "this delivery was accepted before")
	}
	id := ulid.MustNew(ulid.Timestamp(s.now()), ulid.DefaultEntropy()).String()
	e := gate.Event{Project: p.Slug, Gate: id, Pull: d.Pull, Closed: d.Closed, Branch: d.Branch, Before: d.Before, Head: d.Head}
	if err := s.fleet.Follow(r.Context(), change, e); err != nil {
		return s.fleetAway(r, err)
	}
	if err := gates.AddDelivery(r.Context(), p.ID, digest[:]); err != nil { // after it started: a delivery that failed may come again
		return err
	}
	return answer(w, http.StatusAccepted, deliveryAnswer{id})
}

type deliveryAnswer struct {
	Gate string `json:"gate"`
}

// gatedProject returns a project and what it gates; no secret if either does not exist. Callers cannot tell which.
func (s *Server) gatedProject(ctx context.Context, gates *fleetstore.Store, slug string) (store.Project, fleetstore.Gated, error) {
	p, err := s.store.Project(ctx, slug)
	var g fleetstore.Gated
	if err == nil {
		g, err = gates.Gated(ctx, p.ID)
	}
	if errors.Is(err, store.ErrNotFound) {
		return p, fleetstore.Gated{}, nil
	}
	return p, g, err
}

// gatedChange returns the name of the change that a delivery belongs to; empty if the project does not gate it. A pull request
// is one change, so that a new push to it replaces the older one. Every push to a branch is a change of its own.
func gatedChange(g fleetstore.Gated, d forge.Delivery) string {
	switch {
	case !strings.EqualFold(d.Repo.String(), g.Repository):
		return ""
	case d.Pull > 0:
		return fmt.Sprintf("pull/%d", d.Pull)
	case slices.Contains(g.Branches, d.Branch):
		return "push/" + d.Head
	default:
		return ""
	}
}
