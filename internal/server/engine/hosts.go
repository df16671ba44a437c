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
	"go.temporal.io/sdk/temporal"

	"github.com/goatnote-inc/pawl/internal/fleet/hosts"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/internal/fleet/wake"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
)

// chooseHosts lets the file of this process decide which hosts are started and stopped. It starts the workflow if it does not run.
func (e *Engine) chooseHosts(ctx context.Context) error {
	if e.o.Hosts == nil {
		return nil
	}
	_, err := e.client.SignalWithStartWorkflow(ctx, hosts.Name, hosts.Chosen, e.o.Hosts.Digest(), e.hostsOptions(), hosts.Name, hosts.State{})
	if err != nil {
		return fmt.Errorf("cannot look after the hosts of fleet.hosts: %w", err)
	}
	return nil
}

// keepHosts starts the workflow again if it has ended.
func (e *Engine) keepHosts(ctx context.Context) {
	if e.o.Hosts == nil {
		return
	}
	if _, err := e.client.ExecuteWorkflow(ctx, e.hostsOptions(), hosts.Name, hosts.State{}); err != nil {
		e.o.Log.WarnContext(ctx, "cannot look after the hosts of fleet.hosts", "error", err)
	}
}

func (e *Engine) hostsOptions() client.StartWorkflowOptions {
	return client.StartWorkflowOptions{ID: hosts.Name, TaskQueue: placer.Server, WorkflowIDConflictPolicy: enums.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING}
}

// Managed returns how many hosts this process knows that the fleet starts and stops.
func (e *Engine) Managed() int {
	if e.o.Hosts == nil {
		return 0
	}
	return len(e.o.Hosts.Hosts)
}

// Hosts returns the state of the hosts that the fleet starts and stops. It returns [ErrNoHosts] if there are none.
func (e *Engine) Hosts(ctx context.Context) (sum wake.Summary, err error) {
	answer, err := e.client.QueryWorkflowWithOptions(ctx, &client.QueryWorkflowWithOptionsRequest{
		WorkflowID: hosts.Name, QueryType: hosts.Shown, QueryRejectCondition: enums.QUERY_REJECT_CONDITION_NOT_OPEN,
	})
	if isNotFound(err) || err == nil && answer.QueryRejected != nil {
		return sum, ErrNoHosts
	}
	if err == nil {
		err = answer.QueryResult.Get(&sum)
	}
	if err != nil {
		return sum, fmt.Errorf("cannot ask for the hosts: %w", err)
	}
	return sum, nil
}

// ErrNoHosts says that the fleet starts and stops no hosts.
var ErrNoHosts = errors.New("the fleet starts and stops no hosts: see fleet.hosts in docs/how-to/fleet.md")

// manages reports whether the fleet starts and stops a host.
func (e *Engine) manages(host string) bool { return e.o.Hosts != nil && e.o.Hosts.Host(host) != nil }

// errOtherFile fails an activity that another pawld has to run.
var errOtherFile = temporal.NewApplicationError("another file of fleet.hosts was chosen: give every pawld of the fleet the same one, and restart it", hosts.OtherFile)

// decides reports whether the file of this process has a digest, or any if it is empty.
func (e *Engine) decides(file string) bool {
	return e.o.Hosts != nil && (file == "" || file == e.o.Hosts.Digest())
}

// demand returns what gates want of the hosts.
func (e *Engine) demand(ctx context.Context, known hosts.Known) (d hosts.Demand, err error) {
	if !e.decides(known.File) {
		return d, errOtherFile
	}
	devices, err := e.o.Fleet.Devices(ctx, "")
	if err != nil {
		return d, err
	}
	var models []string
	labels, lists := map[string][]string{}, map[string][]string{} // of hosts
	open := map[string]fleetstore.Device{}                        // devices that are not closed
	for _, v := range devices {
		if !e.manages(v.Host) {
			continue
		}
		models, lists[v.Host] = append(models, v.Model), append(lists[v.Host], v.Model)
		if v.Power == placement.Closed && !fleetstore.IsStopping(v) {
			continue
		}
		open[v.ID] = v
		if v.Quarantine == "" {
			labels[v.Host] = append(labels[v.Host], label(v.Model, v.Tier))
		}
	}
	for _, of := range []map[string][]string{labels, lists} {
		for host, list := range of {
			slices.Sort(list)
			of[host] = slices.Compact(list)
		}
	}
	slices.Sort(models)
	models = slices.Compact(models)
	funds := e.funds(ctx)
	for _, model := range models {
		v, err := e.Queue(ctx, model)
		if err != nil { // hosts do not count as idle while a list is missing
			e.o.Log.WarnContext(ctx, "cannot see which gates wait for hosts", "model", model, "error", err)
			continue
		}
		d.Lists = append(d.Lists, hosts.List{Model: model, Jobs: jobs(model, v, open, funds)})
	}
	rules := e.o.Hosts.Rules(labels, lists, models)
	text, err := json.Marshal(rules)
	if err != nil {
		return d, err
	}
	sum := sha256.Sum256(text)
	d.Known = hosts.Known{File: e.o.Hosts.Digest(), Rules: hex.EncodeToString(sum[:])}
	if d.Known != known {
		d.Rules = rules
	}
	return d, nil
}

// funds returns a function that reports whether the budget of a project allows a gate, beside those asked for before.
func (e *Engine) funds(ctx context.Context) func(project string, c placement.Cost) bool {
	now := time.Now()
	budgets := map[string]*placement.Budget{}
	return func(project string, c placement.Cost) bool {
		b := budgets[project]
		if b == nil {
			b = &placement.Budget{}
			if id, err := e.project(ctx, project); err == nil {
				*b, err = e.o.Fleet.Budget(ctx, id)
				if err != nil {
					e.o.Log.WarnContext(ctx, "a host is started without a look at the budget", "project", project, "error", err)
				}
			}
			budgets[project] = b
		}
		return b.Reserve(c, now)
	}
}

// label is what a gate needs of a host.
func label(model string, t tier.Tier) string { return model + "/" + string(cmp.Or(t, tier.Own)) }

// maxListed is how many waiting gates of a model and a tier the rules see: as many as there can be hosts.
const maxListed = 100

// jobs returns the measurements on a model, and those that wait and are worth the start of a host. open has the devices that are
// not closed.
func jobs(model string, v placer.View, open map[string]fleetstore.Device, funds func(string, placement.Cost) bool) (list []wake.Job) {
	for _, l := range v.Leases {
		list = append(list, wake.Job{Repo: model, ID: number("lease", l.Lease), Stage: wake.Running, Labels: []string{wake.HostLabel(l.Host)}, Runner: l.Host})
	}
	listed := map[string]int{}
	for _, w := range v.Queue {
		needs := label(model, w.Tier)
		switch {
		case w.Only != "" && open[w.Only].Host == "":
			continue
		case w.Only != "": // the calibration of a device
			needs = wake.HostLabel(open[w.Only].Host)
		case w.Reason != placement.Busy && w.Reason != placement.Wake && w.Reason != placement.None:
			continue
		case !funds(w.Project, placement.Lease{Request: placement.Request{Seconds: w.Seconds}, Price: price(model, w.Tier, open)}.Cost()):
			continue
		}
		if listed[needs]++; listed[needs] <= maxListed {
			list = append(list, wake.Job{Repo: model, ID: number("request", w.Lease), Stage: wake.Queued, Labels: []string{needs}})
		}
	}
	return list
}

// price returns the lowest price of a device that a gate could get from a host.
func price(model string, t tier.Tier, open map[string]fleetstore.Device) float64 {
	lowest := -1.0
	for _, d := range open {
		if d.Model == model && tier.Serves(d.Tier, t) && (lowest < 0 || d.Price < lowest) {
			lowest = d.Price
		}
	}
	return max(lowest, 0)
}

// number turns a name into the number of a job.
func number(kind, name string) int64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %s", kind, name)
	return int64(h.Sum64() >> 1)
}

// command runs a command of a host. The devices of a host that is to be stopped are closed before.
func (e *Engine) command(ctx context.Context, o hosts.Order) (r hosts.Answer, err error) {
	if !e.decides(o.File) {
		return r, errOtherFile
	}
	host, run := e.o.Hosts.Host(o.Host), wake.Runner{Config: e.o.Hosts}
	switch {
	case host == nil:
		r.Why = "it is not in the file of fleet.hosts"
	case o.Kind == wake.Start:
		r.Why = run.Move(ctx, host, o.Kind)
	case o.Kind == wake.Stop:
		r.Stays, err = e.clear(ctx, o)
		switch {
		case err != nil:
			r.Why = err.Error()
		case !r.Stays:
			r.Why = run.Move(ctx, host, o.Kind)
		}
		if r.Stays || r.Why != "" && !o.Hard {
			e.noted(ctx, o.Host, e.o.Fleet.HostStays)
		}
	case o.Kind == wake.Ask:
		r.Power, r.Why, _ = run.Ask(ctx, host)
		switch {
		case r.Power == wake.Off:
			e.noted(ctx, o.Host, e.o.Fleet.HostOff)
		case r.Power == wake.On && !o.Stopping:
			e.noted(ctx, o.Host, e.o.Fleet.HostStays)
		}
	}
	return r, nil
}

// noted changes the devices of a host. An error is only logged: the next status of the host changes them.
func (e *Engine) noted(ctx context.Context, host string, change func(context.Context, string) error) {
	if err := change(ctx, host); err != nil {
		e.o.Log.WarnContext(ctx, "the devices of a host are not what they should be", "host", host, "error", err)
	}
}

// settle is how long a placer may take to see that a device is closed. A lease that it grants later is not taken, and moves on.
const settle = time.Second

// clear closes the devices of a host that is to be stopped. It reports whether the host stays on, because a gate has just got one of them.
func (e *Engine) clear(ctx context.Context, o hosts.Order) (stays bool, err error) {
	if o.Hard {
		e.noted(ctx, o.Host, e.o.Fleet.HostStopping)
		return false, nil
	}
	if err := e.o.Fleet.HostStopping(ctx, o.Host); err != nil {
		return false, err
	}
	devices, err := e.o.Fleet.Devices(ctx, "")
	if err != nil {
		return false, err
	}
	models := map[string]bool{}
	for _, d := range devices {
		if d.Host == o.Host {
			models[d.Model] = true
		}
	}
	for model := range models {
		if err := e.Refresh(ctx, model); err != nil {
			return false, err
		}
	}
	select {
	case <-time.After(settle):
	case <-ctx.Done():
		return false, ctx.Err()
	}
	for model := range models {
		v, err := e.Queue(ctx, model)
		if err != nil {
			return false, err
		}
		if slices.ContainsFunc(v.Leases, func(l placement.Lease) bool { return l.Host == o.Host }) {
			return true, nil
		}
	}
	return false, nil
}
