package engine

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/goatnote-inc/pawl/internal/fleet/hosts"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/internal/fleet/wake"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
)

// startHosts starts the workflow that starts and stops hosts, if it does not run.
func (e *Engine) startHosts(ctx context.Context) error {
	if e.o.Hosts == nil {
		return nil
	}
	_, err := e.client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: hosts.Name, TaskQueue: placer.Server, WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING,
	}, hosts.Name, hosts.State{})
	if err != nil {
		return fmt.Errorf("cannot look after the hosts of fleet.hosts: %w", err)
	}
	return nil
}

// HasHosts reports whether the fleet starts and stops hosts.
func (e *Engine) HasHosts() bool { return e.o.Hosts != nil }

// Hosts returns the state of the hosts that the fleet starts and stops. It returns [ErrNoHosts] if there are none.
func (e *Engine) Hosts(ctx context.Context) (sum wake.Summary, err error) {
	answer, err := e.client.QueryWorkflow(ctx, hosts.Name, "", hosts.Shown)
	if isNotFound(err) {
		return sum, ErrNoHosts
	}
	if err == nil {
		err = answer.Get(&sum)
	}
	if err != nil {
		return sum, fmt.Errorf("cannot ask for the hosts: %w", err)
	}
	return sum, nil
}

// ErrNoHosts says that the fleet starts and stops no hosts.
var ErrNoHosts = errors.New("the fleet starts and stops no hosts: see fleet.hosts in docs/how-to/fleet.md")

// maxListed is how many waiting gates of a model the rules see: more than there can be hosts.
const maxListed = 200

// manages reports whether the fleet starts and stops a host.
func (e *Engine) manages(host string) bool { return e.o.Hosts != nil && e.o.Hosts.Host(host) != nil }

// demand returns what gates want of the hosts.
func (e *Engine) demand(ctx context.Context, known string) (d hosts.Demand, err error) {
	if e.o.Hosts == nil {
		return hosts.Demand{None: true}, nil
	}
	devices, err := e.o.Fleet.Devices(ctx, "")
	if err != nil {
		return d, err
	}
	var models []string
	labels, open := map[string][]string{}, map[string]string{} // of hosts; hosts of devices that are not closed
	for _, v := range devices {
		if !e.manages(v.Host) {
			continue
		}
		models = append(models, v.Model)
		if v.Power == placement.Closed && !fleetstore.IsStopping(v) {
			continue
		}
		open[v.ID] = v.Host
		if v.Quarantine == "" {
			labels[v.Host] = append(labels[v.Host], label(v.Model, v.Tier))
		}
	}
	for host, list := range labels {
		slices.Sort(list)
		labels[host] = slices.Compact(list)
	}
	slices.Sort(models)
	models = slices.Compact(models)
	for _, model := range models {
		v, err := e.Queue(ctx, model)
		if err != nil {
			return d, err
		}
		d.Lists = append(d.Lists, hosts.List{Model: model, Jobs: jobs(model, v, open)})
	}
	rules := e.o.Hosts.Rules(labels, models)
	text, err := json.Marshal(rules)
	if err != nil {
		return d, err
	}
	sum := sha256.Sum256(text)
	if d.Known = hex.EncodeToString(sum[:]); d.Known != known {
		d.Rules = rules
	}
	return d, nil
}

// label is what a gate needs of a host.
func label(model string, t tier.Tier) string { return model + "/" + string(cmp.Or(t, tier.Own)) }

// jobs returns the measurements on a model, and those that wait and are worth the start of a host. open has the hosts of devices.
func jobs(model string, v placer.View, open map[string]string) (list []wake.Job) {
	for _, l := range v.Leases {
		list = append(list, wake.Job{Repo: model, ID: number("lease", l.Lease), Stage: wake.Running, Labels: []string{wake.HostLabel(l.Host)}, Runner: l.Host, Created: l.Start})
	}
	for _, w := range v.Queue {
		needs := label(model, w.Tier)
		switch {
		case len(list)-len(v.Leases) == maxListed:
			return list
		case w.Only != "" && open[w.Only] == "":
			continue
		case w.Only != "": // the calibration of a device
			needs = wake.HostLabel(open[w.Only])
		case w.Reason != placement.Busy && w.Reason != placement.Wake && w.Reason != placement.None:
			continue
		}
		list = append(list, wake.Job{Repo: model, ID: number("request", w.Lease), Stage: wake.Queued, Labels: []string{needs}, Created: w.Since})
	}
	return list
}

// number turns a name into the number of a job.
func number(kind, name string) int64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %s", kind, name)
	return int64(h.Sum64() >> 1)
}

// command runs a command of a host. The devices of a host that is to be stopped are closed before.
func (e *Engine) command(ctx context.Context, o hosts.Order) (r hosts.Answer, err error) {
	if !e.manages(o.Host) {
		return hosts.Answer{Why: "it is not in the file of fleet.hosts"}, nil
	}
	host, run := e.o.Hosts.Host(o.Host), wake.Runner{Config: e.o.Hosts}
	switch o.Kind {
	case wake.Start:
		r.Why = run.Move(ctx, host, o.Kind)
	case wake.Stop:
		if r.Why, err = e.clear(ctx, o); err == nil && r.Why == "" {
			r.Why = run.Move(ctx, host, o.Kind)
		}
		if r.Why != "" {
			err = errors.Join(err, e.o.Fleet.HostStays(ctx, o.Host))
		}
	case wake.Ask:
		r.Power, r.Why, r.Busy = run.Ask(ctx, host)
		switch {
		case r.Power == wake.Off:
			err = e.o.Fleet.HostOff(ctx, o.Host)
		case r.Power == wake.On && !o.Stopping:
			err = e.o.Fleet.HostStays(ctx, o.Host)
		}
	}
	return r, err
}

// settle is how long a placer may take to see that a device is closed. A lease that it grants later is not taken, and moves on.
const settle = time.Second

// clear closes the devices of a host that is to be stopped, and returns why it cannot be: a gate has just got one of them.
func (e *Engine) clear(ctx context.Context, o hosts.Order) (why string, err error) {
	if err := e.o.Fleet.HostStopping(ctx, o.Host); err != nil || o.Hard {
		return "", err
	}
	devices, err := e.o.Fleet.Devices(ctx, "")
	if err != nil {
		return "", err
	}
	devices = slices.DeleteFunc(devices, func(d fleetstore.Device) bool { return d.Host != o.Host })
	for _, d := range devices {
		if err := e.Refresh(ctx, d.Model); err != nil {
			return "", err
		}
	}
	select {
	case <-time.After(settle):
	case <-ctx.Done():
		return "", ctx.Err()
	}
	for _, d := range devices {
		v, err := e.Queue(ctx, d.Model)
		if err != nil {
			return "", err
		}
		if slices.ContainsFunc(v.Leases, func(l placement.Lease) bool { return l.Host == o.Host }) {
			return "a gate has just started on it", nil
		}
	}
	return "", nil
}
