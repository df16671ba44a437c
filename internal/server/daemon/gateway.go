package daemon

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/internal/fleet/gateway"
	"github.com/goatnote-inc/pawl/internal/server/agents"
	"github.com/goatnote-inc/pawl/internal/server/engine"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
)

// startFleet connects the parts to Temporal, and works for it and serves agents until stopFleet is called. Without fleet.address it
// does nothing.
func (p *components) startFleet(ctx context.Context, c *config, env environment, now func() time.Time) error {
	if c.Fleet.Address == "" {
		return nil
	}
	var changes engine.Changes
	if p.webhooks = webhooksOf(env); p.webhooks != nil {
		changes = p.changes(env, now)
	}
	hosts, err := c.hosts(env)
	if err != nil {
		return err
	}
	p.engine, err = engine.New(engine.Options{
		Address: c.Fleet.Address, Namespace: c.Fleet.Namespace, Log: p.log, Fleet: fleetstore.New(p.store.DB()), Calibrate: c.Fleet.Calibrate,
		Hosts: hosts, Project: p.projectID, Changes: changes,
	})
	if err != nil {
		return err
	}
	work, cancel := context.WithCancel(context.WithoutCancel(ctx)) // requests end first
	var running sync.WaitGroup
	p.stopFleet = func() {
		cancel()
		running.Wait()
	}
	if c.Queue.Work {
		running.Go(func() { p.engine.Work(work) })
	}
	if c.Fleet.Listen == "" {
		return nil
	}
	g, l, err := p.gateway(ctx, c, now)
	if err != nil {
		return err
	}
	running.Go(func() {
		if err := g.Serve(work, l); err != nil {
			p.log.Error("agents are cut off", "error", err)
		}
	})
	return nil
}

func (p *components) projectID(ctx context.Context, slug string) (int64, error) {
	project, err := p.store.Project(ctx, slug)
	return project.ID, err
}

// gateway returns the gateway of agents and the port it serves.
func (p *components) gateway(ctx context.Context, c *config, now func() time.Time) (*gateway.Gateway, net.Listener, error) {
	g, err := gateway.New(gateway.Options{
		Temporal: p.engine.Service(), Namespace: c.Fleet.Namespace, Secret: []byte(c.Fleet.Secret.Reveal()), Keys: agents.Keys{Store: p.store},
		Blobs: agents.Blobs{Store: p.store, Bucket: p.blobs}, Audit: agents.Audit{Store: p.store, Log: p.log}, Log: p.log, Now: now,
	})
	if err != nil {
		return nil, nil, err
	}
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", c.Fleet.Listen)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot listen for agents (fleet.listen): %w", err)
	}
	p.log.Info("listening for agents", "address", l.Addr().String())
	return g, l, nil
}
