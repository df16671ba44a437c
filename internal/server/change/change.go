// Package change gates what a forge reports: it fetches the commits of a change for the agents, which have no credentials of
// the forge, and tells the forge how the gate ended. It must not know how requests arrive, nor any forge's API.
package change

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/fleet/gate"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/publish"
	"github.com/goatnote-inc/pawl/internal/server/agents"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
	"github.com/goatnote-inc/pawl/measure"
)

// Options is what gating changes needs.
type Options struct {
	Fleet   *fleetstore.Store
	Project func(ctx context.Context, slug string) (id int64, err error) // returns an error that wraps pg.ErrNotFound if there is none
	Blobs   agents.Blobs
	Dir     string // folder for copies of repositories
	Log     *slog.Logger
	Now     func() time.Time
	Pause   time.Duration // between two questions to a forge that is not up to date yet

	Open    func(repo forge.Repo) (forge.Client, error)
	Remote  func(ctx context.Context, repo forge.Repo) (forge.Remote, error)
	PullRef string // ref of a pull request's head, with %d for its number
}

// Changes carries out the activities of changes.
type Changes struct {
	o Options

	mu    sync.Mutex
	locks map[int64]*sync.Mutex // of copies of repositories, by project
}

// New returns Changes.
func New(o Options) *Changes { return &Changes{o: o, locks: map[int64]*sync.Mutex{}} }

// subject is a change of a project that gates its repository.
type subject struct {
	project int64
	gated   fleetstore.Gated
	repo    forge.Repo
	client  forge.Client
}

// subject returns what an event is about; nil if the project gates nothing any more.
func (c *Changes) subject(ctx context.Context, slug string) (*subject, error) {
	id, err := c.o.Project(ctx, slug)
	s := &subject{project: id}
	if err == nil {
		s.gated, err = c.o.Fleet.Gated(ctx, id)
	}
	switch {
	case errors.Is(err, pg.ErrNotFound):
		return nil, nil
	case err != nil:
		return nil, err
	}
	if s.repo, err = forge.ParseRepo(s.gated.Repository); err != nil {
		return nil, forge.Invalid("%w", err)
	}
	s.client, err = c.o.Open(s.repo)
	return s, err
}

// Prepare fetches a change, records its gate and marks its commit as being measured. Doing it again changes nothing.
func (c *Changes) Prepare(ctx context.Context, e gate.Event) (gate.Prepared, error) {
	s, err := c.subject(ctx, e.Project)
	if err != nil {
		return gate.Prepared{}, err
	}
	if s == nil {
		return gate.Prepared{Skip: "the project gates nothing any more"}, nil
	}
	p, ref, err := c.resolve(ctx, s, e)
	if err != nil || p.Skip != "" {
		return p, err
	}
	if err := c.place(ctx, s, &p.Work); err != nil {
		return p, err
	}
	pub, err := c.publisher(ctx, s, p.Work.Base)
	switch {
	case err != nil:
		return p, err
	case pub.Suite == nil:
		return gate.Prepared{Skip: fmt.Sprintf("the base has no suite %s", s.gated.Suite)}, nil
	}
	if p.Work.Bundle, err = c.bundle(ctx, s, e.Project, ref, p.Work); err != nil {
		return p, err
	}
	request := client.GateRequest{
		Models: p.Models, Bundle: p.Work.Bundle, Base: p.Work.Base, Head: p.Work.Head, Suite: p.Work.Suite, Trust: measure.Trust(p.Work.Trust), Seconds: p.Work.Seconds,
	}
	if err := request.Check(); err != nil {
		return p, forge.Invalid("the settings of the project: %w", err)
	}
	change := ""
	if e.Pull > 0 {
		change = fmt.Sprintf("pull/%d", e.Pull)
	}
	if err := c.o.Fleet.AddGate(ctx, s.project, p.Work, p.Models, change); err != nil {
		return p, err
	}
	_, err = pub.Publish(ctx, publish.Request{Start: true, Pull: e.Pull, SHA: p.Work.Head})
	return p, err
}

// resolve asks the forge what the change is, and returns the work of its gate without a bundle, and the ref to fetch.
func (c *Changes) resolve(ctx context.Context, s *subject, e gate.Event) (p gate.Prepared, ref string, err error) {
	p.Work = gate.Work{Gate: e.Gate, Project: e.Project, Base: e.Before, Head: e.Head, Suite: s.gated.Suite, Seconds: client.GateSeconds}
	p.Models = slices.Sorted(slices.Values(s.gated.Models))
	if e.Pull == 0 {
		return p, "refs/heads/" + e.Branch, nil
	}
	pull, err := c.pull(ctx, s.client, e)
	switch {
	case err != nil:
		return p, "", err
	case !pull.Open:
		return gate.Prepared{Skip: "the pull request is closed"}, "", nil
	}
	if pull.Fork {
		p.Models, p.Work.Trust = slices.Sorted(slices.Values(s.gated.ForkModels)), string(measure.Checked)
		if len(p.Models) == 0 {
			return gate.Prepared{Skip: "pull requests from forks are not gated"}, "", nil
		}
	}
	p.Work.Head = pull.HeadSHA
	p.Work.Base, err = s.client.MergeBase(ctx, pull.BaseSHA, pull.HeadSHA)
	return p, fmt.Sprintf(c.o.PullRef, e.Pull), err
}

// place sets the trust tier of a gate: that of the project, or a stricter one for a fork.
func (c *Changes) place(ctx context.Context, s *subject, w *gate.Work) error {
	of, err := c.o.Fleet.Tier(ctx, s.project)
	if err != nil {
		return err
	}
	of, level, err := tier.Decide(of, measure.Trust(w.Trust))
	if err != nil {
		return forge.Invalid("the settings of the project: %w", err)
	}
	w.Tier, w.Trust = of, string(level)
	return nil
}

// looks is how often the forge is asked for a head that it reported itself.
const looks = 3

// pull returns the pull request of an event. A forge may report a head before it shows it; a head that stays another one is
// newer, and is gated instead.
func (c *Changes) pull(ctx context.Context, client forge.Client, e gate.Event) (pull forge.Pull, err error) {
	for n := range looks {
		if pull, err = client.Pull(ctx, e.Pull); err != nil || pull.HeadSHA == e.Head || n == looks-1 {
			break
		}
		select {
		case <-ctx.Done():
			return pull, ctx.Err()
		case <-time.After(c.o.Pause):
		}
	}
	return pull, err
}

// publisher returns a publisher with the suite of the base; without one if the base has none.
func (c *Changes) publisher(ctx context.Context, s *subject, base string) (*publish.Publisher, error) {
	pub := &publish.Publisher{
		Client: s.client, Job: &forge.Job{}, Now: c.o.Now(),
		Log: func(format string, args ...any) {
			c.o.Log.WarnContext(ctx, "publishing: "+fmt.Sprintf(format, args...))
		},
	}
	if base == "" {
		return pub, nil
	}
	text, err := s.client.File(ctx, base, s.gated.Suite)
	if errors.Is(err, forge.ErrNotFound) {
		return pub, nil
	}
	if err != nil {
		return nil, err
	}
	if err := pub.ReadSuite(s.gated.Suite, text); err != nil {
		return nil, forge.Invalid("the suite of the base cannot be read: %w", err)
	}
	return pub, nil
}
