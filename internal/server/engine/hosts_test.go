package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/await"
	"github.com/goatnote-inc/pawl/internal/fleet/gate"
	"github.com/goatnote-inc/pawl/internal/fleet/hosts"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/internal/fleet/wake"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
)

func TestJobs_AreWorthAStart(t *testing.T) {
	open := map[string]fleetstore.Device{"GPU-a": {Device: placement.Device{Host: "gpu1", Price: 2}, Model: "l4"}}
	funds := func(project string, c placement.Cost) bool {
		return project != "poor" && c == placement.Cost{Seconds: 1800, Money: 1}
	}
	for _, x := range []struct {
		name    string
		waiting placement.Waiting
		want    string
	}{
		{"all devices are busy", placement.Waiting{Project: "p", Reason: placement.Busy}, "l4/own"},
		{"the hosts are off", placement.Waiting{Project: "p", Reason: placement.Wake}, "l4/own"},
		{"a project without budget", placement.Waiting{Project: "poor", Reason: placement.Wake}, ""},
		{"no budget", placement.Waiting{Project: "p", Reason: placement.NoBudget}, ""},
		{"all are in quarantine", placement.Waiting{Project: "p", Reason: placement.AllQuarantined}, ""},
		{"no host of its tier", placement.Waiting{Project: "p", Reason: placement.NoHost}, ""},
		{"a calibration", placement.Waiting{Only: "GPU-a", Reason: placement.AllQuarantined}, "host:gpu1"},
		{"a calibration of a closed device", placement.Waiting{Only: "GPU-b", Reason: placement.Wake}, ""},
	} {
		t.Run(x.name, func(t *testing.T) {
			x.waiting.Seconds = 1800
			list := jobs("l4", placer.View{Queue: []placement.Waiting{x.waiting}}, open, funds)
			got := ""
			for _, j := range list {
				got += strings.Join(j.Labels, " ")
				if j.Stage != wake.Queued || j.Repo != "l4" {
					t.Errorf("%+v", j)
				}
			}
			if got != x.want {
				t.Errorf("needs %q, want %q", got, x.want)
			}
		})
	}
}

func TestJobs_NumbersAreTheirOwn(t *testing.T) {
	v := placer.View{Leases: []placement.Lease{{Request: placement.Request{Lease: "a"}, Host: "gpu1"}}}
	for i := range 2 * maxListed {
		v.Queue = append(v.Queue, placement.Waiting{Lease: fmt.Sprint(i), Project: "p", Reason: placement.Busy})
	}
	v.Queue[0].Lease = "a" // it ran, failed, and waits again
	v.Queue = append(v.Queue, placement.Waiting{Lease: "fork", Project: "p", Tier: tier.Checked, Reason: placement.Wake})
	list := jobs("l4", v, nil, func(string, placement.Cost) bool { return true })
	seen := map[int64]bool{}
	for _, j := range list {
		seen[j.ID] = true
	}
	if last := list[len(list)-1]; last.Labels[0] != "l4/checked" {
		t.Errorf("the last job needs %q: gates of one tier hide those of another", last.Labels)
	}
	if len(list) != 1+maxListed+1 || len(seen) != len(list) || list[0].Stage != wake.Running || list[0].Runner != "gpu1" {
		t.Errorf("%d jobs with %d numbers; the first is %+v", len(list), len(seen), list[0])
	}
}

const hostsFile = `
version: 1
hosts:
  - {name: sleeper, start: touch on, stop: rm on, status: test -e on && echo on || echo off, ask: 1s, idle: 5s}
  - {name: GPU-a, start: touch started, stop: touch stopped, status: echo on}
budget: {hours_per_day: 20}
`

// hostsOf returns the settings of two hosts: sleeper is on while a file exists, GPU-a always.
func hostsOf(t *testing.T) (c *wake.Config, dir string) {
	t.Helper()
	dir = t.TempDir()
	path := filepath.Join(dir, "hosts.yaml")
	if err := os.WriteFile(path, []byte(hostsFile), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := wake.LoadHosts(path, dir)
	if err != nil {
		t.Fatal(err)
	}
	return c, dir
}

// sleeps runs a gate on a device whose host is off.
func (p *place) sleeps(dir string) {
	p.t.Helper()
	device := fleetstore.Device{Device: placement.Device{ID: "GPU-s", Host: "sleeper"}, Model: "t4"}
	set := func(power placement.Power) {
		device.Power = power
		if err := errors.Join(p.fleet.SetDevice(p.t.Context(), device), p.engine.Refresh(p.t.Context(), device.Model)); err != nil {
			p.t.Fatal(err)
		}
	}
	set(placement.Asleep)
	p.poll(func(_ context.Context, l job.Lease) (job.Result, error) {
		return job.Result{Lease: l.ID, Attempt: l.Attempt, Record: "r", Rounds: 8}, nil
	}, job.Lease{Device: "GPU-s"}, job.Lease{Device: "GPU-s", Build: true})
	p.start("G11", "t4")
	await.True(p.t, "gate G11 to end on a host that was started for it", func() bool {
		if _, err := os.Stat(filepath.Join(dir, "on")); err == nil && p.part("G11").State == gate.Waiting {
			set(placement.Ready) // as if its agent had started
		}
		return p.part("G11").State == gate.Done
	})
	var sum wake.Summary
	await.True(p.t, "the host to be off", func() bool {
		var err error
		sum, err = p.engine.Hosts(p.t.Context())
		return err == nil && sum.Hosts[0].Power == wake.Off && sum.Spent > 0
	})
	list, err := p.fleet.Devices(p.t.Context(), "t4")
	if err != nil || len(list) != 1 || list[0].Power != placement.Asleep || list[0].Reason != "" {
		p.t.Errorf("devices of a host that is off: %+v, %v", list, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "on")); err == nil || sum.Waiting+sum.Running+sum.Hosts[0].Failed > 0 {
		p.t.Errorf("hosts %+v", sum)
	}
	if *writeHistories {
		p.keep(hosts.Name, "../../fleet/hosts/testdata/history/hosts.json")
	}
}

// stopped checks that the host of a device is not stopped while a gate measures there, unless the budget is used up.
func (p *place) stopped(device, dir string) {
	p.t.Helper()
	for _, hard := range []bool{false, true} {
		r, err := p.engine.command(p.t.Context(), hosts.Order{File: p.engine.o.Hosts.Digest(), Host: device, Kind: wake.Stop, Hard: hard})
		_, missing := os.Stat(filepath.Join(dir, "stopped"))
		if err != nil || r.Why != "" || r.Stays == hard || (missing == nil) != hard {
			p.t.Errorf("stop, hard: %v: %+v, %v; stopped: %v", hard, r, err, missing == nil)
		}
		list, err := p.fleet.Devices(p.t.Context(), "l4")
		if err != nil || (list[0].Power == placement.Closed) != hard {
			p.t.Errorf("stop, hard: %v: the device is %s, %v", hard, list[0].Power, err)
		}
	}
	d := fleetstore.Device{Device: placement.Device{ID: device, Host: device, Power: placement.Ready, Price: 1}, Model: "l4"}
	if err := p.fleet.SetDevice(p.t.Context(), d); err != nil {
		p.t.Fatal(err)
	}
}
