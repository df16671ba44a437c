package lesson

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

// OfRun returns the facts of a record: how it was measured, and what the compiler made of the
// candidate. What the record does not have is not there.
func OfRun(run *measure.Run) map[string]float64 {
	facts := map[string]float64{}
	ofTestbed(facts, run)
	ofRounds(facts, run)
	ofCases(facts, run)
	for _, impl := range run.Implementations {
		if impl.Name == measure.Candidate {
			ofBuild(facts, impl, run.Device)
		}
	}
	return facts
}

// GPUOf returns the architecture of a device as lessons name it: sm_89, or cpu; empty if unknown.
func GPUOf(device gpu.Identity) string {
	switch {
	case device.Kind == gpu.CPU:
		return string(gpu.CPU)
	case device.ComputeCapability != "":
		return "sm_" + strings.ReplaceAll(device.ComputeCapability, ".", "")
	}
	return ""
}

func truth(yes bool) float64 {
	if yes {
		return 1
	}
	return 0
}

func ofTestbed(facts map[string]float64, run *measure.Run) {
	if run.Testbed.Clocks.Mode != "" {
		facts["clocks_free"] = truth(run.Testbed.Clocks.Mode == gpu.ClocksFree)
	}
	warned := func(code string) bool {
		return slices.ContainsFunc(run.Warnings, func(w measure.Warning) bool { return w.Code == code })
	}
	if run.Source == measure.Measured {
		facts["throttled"] = truth(warned("throttled") || warned("one_sided_throttling") || run.End.State == measure.Throttled)
		facts["foreign_process"] = truth(warned("foreign_process"))
	}
}

func ofRounds(facts map[string]float64, run *measure.Run) {
	dropped := 0
	for _, r := range run.Rounds {
		if r.Dropped != "" {
			dropped++
		}
	}
	if len(run.Rounds) > 0 {
		facts["rounds"], facts["rounds_dropped"] = float64(len(run.Rounds)-dropped), float64(dropped)
	}
}

// ofCases reads the candidate's cases that are times.
func ofCases(facts map[string]float64, run *measure.Run) {
	hot, host, unsteady, verified := true, false, false, 0
	shortest, step, spread := math.Inf(1), 0.0, 0.0
	seen := false
	for _, c := range run.Cases {
		if c.Implementation != measure.Candidate || c.Unit != "ns" {
			continue
		}
		seen = true
		hot = hot && c.Cache != measure.Cold
		host = host || c.Timer != measure.TimerDevice && c.Timer != ""
		for _, r := range c.Rounds {
			verified += r.Verified
			unsteady = unsteady || r.Unsteady
			if len(r.Samples) == 0 {
				continue
			}
			median := stats.Median(r.Samples)
			if shortest = min(shortest, median); median > 0 {
				step = max(step, 100*r.Quantum/(median*float64(max(r.Batch, 1))))
			}
			if n := len(r.Clocks); n > 1 && slices.Min(r.Clocks) > 0 {
				spread = max(spread, 100*(slices.Max(r.Clocks)-slices.Min(r.Clocks))/slices.Max(r.Clocks))
				facts["clock_spread_pct"] = spread
			}
		}
	}
	if !seen {
		return
	}
	facts["hot_only"], facts["unsteady"], facts["verified"] = truth(hot), truth(unsteady), float64(verified)
	if run.Device.Kind == gpu.NVIDIA || run.Device.Kind == gpu.AMD {
		facts["host_timed"] = truth(host)
	}
	if !math.IsInf(shortest, 0) {
		facts["shortest_ns"], facts["timer_step_pct"] = shortest, step
	}
}

var maxRegisters = lazyregexp.New(`-maxrregcount[= ]([0-9]{1,4})\b`)

// ofBuild reads the kernels that were built for the device, the worst of them.
func ofBuild(facts map[string]float64, impl measure.Implementation, device gpu.Identity) {
	facts["dirty"] = truth(impl.Dirty)
	most := func(name string, v int) { facts[name] = max(facts[name], float64(v)) }
	arch, here := GPUOf(device), 0
	for _, k := range impl.Build.Kernels {
		if arch != "" && strings.TrimRight(k.Arch, "af") != arch {
			continue
		}
		here++
		most("registers", k.Registers)
		most("stack_bytes", k.StackBytes)
		most("local_bytes", k.LocalBytes)
		most("static_shared_bytes", k.SharedBytes)
		facts["compiler_remarks"] += float64(len(k.Remarks))
		if k.Spill != nil {
			most("spill_bytes", k.Spill.StoreBytes+k.Spill.LoadBytes)
		}
	}
	if len(impl.Build.Kernels) > 0 && arch != "" {
		facts["arch_built"] = truth(here > 0)
	}
	// A command that starts something else, such as make, does not show its flags.
	if command := impl.Build.Command; strings.Contains(command, "nvcc") {
		facts["fast_math"] = truth(strings.Contains(command, "use_fast_math"))
		if m := maxRegisters.FindStringSubmatch(command); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil {
				facts["max_registers"] = float64(n)
			}
		}
	}
}
