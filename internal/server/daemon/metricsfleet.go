package daemon

import (
	"cmp"
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/placer"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/internal/fleet/wake"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
)

// fleetMetrics reads the figures of the fleet at each scrape. Devices, models and agents are never labels.
type fleetMetrics struct {
	devices func(context.Context) ([]fleetstore.Device, error)
	agents  func(context.Context) ([]store.Agent, error)
	queue   func(ctx context.Context, model string) (placer.View, error) // nil without a fleet
	hosts   func(context.Context) (wake.Summary, error)                  // nil if the fleet starts and stops none
	managed int                                                          // how many it should start and stop
	now     func() time.Time
}

var (
	fleetUp       = fleetDesc("up", "1 if Temporal answers, 0 if it does not, -1 without a fleet.")
	fleetWaiting  = fleetDesc("waiting", "Leases that wait for a device.")
	fleetStranded = fleetDesc("stranded", "Leases that wait although budgets allow them, and no device is ready for them.")
	fleetOldest   = fleetDesc("oldest_seconds", "How long the oldest of them has waited.")
	fleetLeases   = fleetDesc("leases", "Leases under way.")
	fleetDevices  = fleetDesc("devices", "Devices by state.", "state")
	fleetAgents   = fleetDesc("agents", "Enrolled agents by whether they were heard lately.", "state")
	fleetMeasured = fleetDesc("calibrations", "Calibrations with a result, of all devices.")
	fleetAlarms   = fleetDesc("false_alarms", "Calibrations that called the same code a change.")
	fleetPowers   = fleetDesc("hosts", "Hosts that the fleet starts and stops, by state.", "state")
	fleetFailing  = fleetDesc("hosts_failing", "Hosts whose last start or stop failed.")
	fleetOld      = fleetDesc("uncalibrated", "Ready devices without a calibration in the last three days.")
)

func fleetDesc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("pawld_fleet_"+name, help, labels, nil)
}

const (
	agentSilent    = 5 * time.Minute
	calibrationOld = 3 * 24 * time.Hour
	fleetScrape    = 5 * time.Second
)

// Describe implements [prometheus.Collector].
func (f *fleetMetrics) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{fleetUp, fleetWaiting, fleetStranded, fleetOldest, fleetLeases, fleetDevices, fleetAgents, fleetMeasured, fleetAlarms, fleetOld, fleetPowers, fleetFailing} {
		to <- d
	}
}

// Collect implements [prometheus.Collector]. A figure that cannot be read is left out.
func (f *fleetMetrics) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), fleetScrape)
	defer cancel()
	send := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	powers := f.collectHosts(ctx, send)
	devices, err := f.devices(ctx)
	if err != nil {
		return
	}
	if agents, err := f.agents(ctx); err == nil {
		heard, silent := f.countAgents(agents, asleep(devices, powers))
		send(fleetAgents, heard, "heard")
		send(fleetAgents, silent, "silent")
	}
	states, calibrations, alarms, old := map[string]float64{}, 0, 0, 0.0
	for _, d := range devices {
		state := stateOf(d)
		states[state]++
		calibrations, alarms = calibrations+d.Calibrations, alarms+d.FalseAlarms
		if state == string(placement.Ready) && f.now().Sub(d.Calibration.At) > calibrationOld {
			old++
		}
	}
	for _, state := range []string{string(placement.Ready), string(placement.Asleep), string(placement.Closed), inQuarantine} {
		send(fleetDevices, states[state], state)
	}
	send(fleetMeasured, float64(calibrations))
	send(fleetAlarms, float64(alarms))
	send(fleetOld, old)
	f.collectQueues(ctx, devices, send)
}

const inQuarantine = "quarantine"

func stateOf(d fleetstore.Device) string {
	if d.Power == placement.Ready && d.Quarantine != "" {
		return inQuarantine
	}
	return string(d.Power)
}

// asleep returns the hosts that are off until something needs them, and those of unknown code that had their one lease. powers has those that
// the fleet starts and stops.
func asleep(devices []fleetstore.Device, powers map[string]wake.Power) map[string]bool {
	list := map[string]bool{}
	for _, d := range devices {
		list[d.Host] = list[d.Host] || d.Sleeps || d.Tier == tier.Unknown && d.Power == placement.Closed
	}
	for host, power := range powers {
		list[host] = power != wake.On
	}
	return list
}

// countAgents counts those that should be heard. An agent has the name of its host.
func (f *fleetMetrics) countAgents(list []store.Agent, asleep map[string]bool) (heard, silent float64) {
	for _, a := range list {
		switch {
		case a.Enrolled == nil || a.Revoked != nil:
		case a.LastSeen != nil && f.now().Sub(*a.LastSeen) < agentSilent:
			heard++
		case !asleep[a.Name]:
			silent++
		}
	}
	return heard, silent
}

// collectHosts asks for the hosts that the fleet starts and stops.
func (f *fleetMetrics) collectHosts(ctx context.Context, send func(*prometheus.Desc, float64, ...string)) (powers map[string]wake.Power) {
	var sum wake.Summary
	if f.hosts != nil {
		var err error
		if sum, err = f.hosts(ctx); err != nil {
			send(fleetFailing, float64(f.managed)) // nothing starts or stops them
			return nil
		}
	}
	powers = map[string]wake.Power{}
	states, failing := map[wake.Power]float64{}, 0.0
	for _, h := range sum.Hosts {
		powers[h.Name] = h.Power
		states[h.Power]++
		if h.Failing {
			failing++
		}
	}
	for _, p := range []wake.Power{wake.On, wake.Off, wake.Starting, wake.Stopping, wake.Unknown} {
		send(fleetPowers, states[p], cmp.Or(string(p), "unknown"))
	}
	send(fleetFailing, failing)
	return powers
}

// collectQueues asks the placers of all models.
func (f *fleetMetrics) collectQueues(ctx context.Context, devices []fleetstore.Device, send func(*prometheus.Desc, float64, ...string)) {
	up, waiting, stranded, leases, oldest := -1.0, 0, 0, 0, time.Duration(0)
	asked := map[string]bool{}
	for _, d := range devices {
		if f.queue == nil || asked[d.Model] {
			continue
		}
		asked[d.Model] = true
		v, err := f.queue(ctx, d.Model)
		if err != nil {
			send(fleetUp, 0)
			return
		}
		up = 1
		waiting, leases = waiting+len(v.Queue), leases+len(v.Leases)
		for _, q := range v.Queue {
			oldest = max(oldest, f.now().Sub(q.Since))
			if q.Reason != placement.Busy && q.Reason != placement.NoBudget && (q.Reason != placement.Wake || f.hosts == nil) { // hosts that should start have an alert of their own
				stranded++
			}
		}
	}
	send(fleetUp, up)
	send(fleetWaiting, float64(waiting))
	send(fleetStranded, float64(stranded))
	send(fleetOldest, oldest.Seconds())
	send(fleetLeases, float64(leases))
}
