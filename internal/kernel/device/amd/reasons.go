package amd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/shell"
)

// hotMargin is how far below its limit a card may be for the driver's report of heat to be believed, in degrees.
const hotMargin = 20

// reasons returns why the clock is below its maximum: what the driver or amd-smi counted since the reading before,
// and the level that the clocks are set to.
func (d *Device) reasons(ctx context.Context, t table) (gpu.Reasons, error) {
	var r gpu.Reasons
	if level := d.sys.Text(d.dir + "/power_dpm_force_performance_level"); level != "" && level != levelAuto {
		r |= gpu.ClocksSetting
	}
	if d.sys.Text(d.dir+"/gpu_busy_percent") == "0" {
		r |= gpu.Idle
	}
	if t.now != nil {
		limit := d.temperature("_crit")
		return r | reasonsOf(*t.now, limit == 0 || d.temperature("_input") >= limit-hotMargin), nil
	}
	grown, err := t.grown, error(nil)
	if grown == nil {
		grown, err = d.violations(ctx)
	}
	if err != nil || grown == nil {
		return r, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last != nil {
		r |= grown.since(*d.last)
	}
	d.last = grown
	return r, nil
}

// explained reports whether anything reports why the card slows down. It also takes the first reading of the counters.
func (d *Device) explained(ctx context.Context) bool {
	t := readTable(d.sys, d.dir+"/gpu_metrics")
	if t.now != nil {
		return true
	}
	_, err := d.reasons(ctx, t)
	d.mu.Lock()
	defer d.mu.Unlock()
	return err == nil && d.last != nil
}

const (
	smiTimeout = 30 * time.Second
	maxOutput  = 1 << 20
)

// smiPaths are where installers put amd-smi, if it is not on the search path.
var smiPaths = []string{"amd-smi", "/opt/rocm/bin/amd-smi"}

// violations asks amd-smi for the counters. It returns nil where there is no amd-smi.
func (d *Device) violations(ctx context.Context) (*counters, error) {
	for _, name := range smiPaths {
		at, err := exec.LookPath(name)
		if err != nil {
			continue
		}
		out, err := output(ctx, at, "metric", "--gpu", d.node.pci(), "--throttle", "--json")
		if err != nil && ctx.Err() == nil { // the option's name in the newest documentation
			out, err = output(ctx, at, "metric", "--gpu", d.node.pci(), "--violation", "--json")
		}
		if err != nil {
			return nil, err
		}
		return parseViolations(out)
	}
	return nil, nil
}

// output runs a program and returns its bounded output.
func output(ctx context.Context, at string, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, smiTimeout)
	defer cancel()
	out, complaints := shell.Head{Max: maxOutput}, shell.Head{Max: maxOutput}
	cmd := exec.CommandContext(ctx, at, args...)
	cmd.Env = append(os.Environ(), "LC_ALL=C")
	cmd.Stdout, cmd.Stderr = &out, &complaints
	cmd.WaitDelay = time.Second // a child of a wrapper script may hold the pipe
	switch err := cmd.Run(); {
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s: %w", at, ctx.Err())
	case err != nil:
		return nil, fmt.Errorf("%s %s: %w: %.200s", at, strings.Join(args, " "), err, word(complaints.String()))
	}
	return out.Bytes(), nil
}

// parseViolations reads the answer of amd-smi: a list with one card or, from ROCm 7 on, an object that holds it.
// Values are numbers, objects with a value, or "N/A". It returns nil if the card reports none.
func parseViolations(out []byte) (*counters, error) {
	type card struct {
		Throttle  map[string]json.RawMessage `json:"throttle"`
		Violation map[string]json.RawMessage `json:"violation"`
	}
	var list []card
	var held struct {
		Cards []card `json:"gpu_data"`
	}
	switch {
	case json.Unmarshal(out, &list) == nil:
	case json.Unmarshal(out, &held) == nil:
		list = held.Cards
	default:
		return nil, fmt.Errorf("amd-smi printed no JSON: %.100q", out)
	}
	if len(list) != 1 {
		return nil, fmt.Errorf("amd-smi printed %d cards, not one", len(list))
	}
	given := list[0].Throttle
	if given == nil {
		given = list[0].Violation
	}
	var c counters
	known := 0
	for name, into := range map[string]*uint64{
		"prochot": &c.prochot, "ppt": &c.power, "socket_thermal": &c.socket, "vr_thermal": &c.regulator, "hbm_thermal": &c.memory,
	} {
		for _, form := range []string{name + "_accumulated", name + "_violation_accumulated"} {
			if v, err := countOf(given[form]); err == nil {
				*into = v
				known++
			}
		}
	}
	if known == 0 {
		return nil, nil
	}
	return &c, nil
}

var errNotCounted = errors.New("not a count")

func countOf(raw json.RawMessage) (uint64, error) {
	var v uint64
	if json.Unmarshal(raw, &v) == nil && string(raw) != "null" {
		return v, nil
	}
	var held struct {
		Value *uint64 `json:"value"`
	}
	if json.Unmarshal(raw, &held) == nil && held.Value != nil {
		return *held.Value, nil
	}
	return 0, errNotCounted
}
