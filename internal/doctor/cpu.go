package doctor

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/kernel/device/host"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// threads returns the number of CPUs that the kernel schedules on.
func (e *exam) threads() int {
	return max(strings.Count("\n"+e.sys.Text("proc/cpuinfo"), "\nprocessor"), 1)
}

// processor reports the host's CPU, and whether threads share its cores.
func processor(_ context.Context, e *exam) []Finding {
	cores, threads := e.cpu.id.Units, e.threads()
	f := ok("cpu", "%s, %s", e.cpu.id.Name, words.Plural(cores, "core"))
	if e.sys.Text("sys/devices/system/cpu/smt/active") != "1" {
		return []Finding{f}
	}
	f.Message += fmt.Sprintf(", %d threads", threads)
	return append([]Finding{f}, note("smt", "two threads share a core: work on one of them slows the other down").
		withFix("keep the machine idle while measuring, or: echo off | sudo tee /sys/devices/system/cpu/smt/control"))
}

const nameVirtual = "virtual"

// stealLimit is the min share of time taken by the hypervisor that is reported.
const stealLimit = 0.005

// virtual reports a hypervisor. On a shared machine it can take the CPU away during a sample; wall
// time includes that, CPU time does not.
func virtual(_ context.Context, e *exam) []Finding {
	info := e.sys.Text("proc/cpuinfo")
	if !slices.Contains(strings.Fields(host.Field(info, "flags")), "hypervisor") {
		return nil
	}
	text := "this is a virtual machine: its CPUs may be shared with others"
	if share := e.stolen(); share >= stealLimit {
		text += fmt.Sprintf(", and the hypervisor took %.1f %% of their time since boot", share*100)
	}
	const fix = "set in the suite: measure: {timer: cpu}"
	switch wall := e.wallTimed(); {
	case !e.onHost():
		return []Finding{note(nameVirtual, "%s", text)}
	case e.suite == nil:
		return []Finding{note(nameVirtual, "%s; CPU time does not include what others take", text).withFix(fix)}
	case wall == "":
		return []Finding{note(nameVirtual, "%s; the suite uses CPU time, which does not include what others take", text)}
	default:
		return []Finding{warn(nameVirtual, "%s; %s uses wall time, which includes what others take", text, wall).withFix(fix)}
	}
}

// stolen returns the share of CPU time that the hypervisor gave to others since boot.
func (e *exam) stolen() float64 {
	line, _, _ := strings.Cut(e.sys.Text("proc/stat"), "\n")
	n := counts(strings.TrimPrefix(line, "cpu"))
	const steal = 7 // user nice system idle iowait irq softirq steal
	if len(n) <= steal {
		return 0
	}
	var total float64
	for _, v := range n[:steal+1] { // guest time is counted within user time
		total += v
	}
	if total == 0 {
		return 0
	}
	return n[steal] / total
}

// wallTimed returns the name of something in the suite that is measured by the wall clock; empty if nothing
// is. An unknown timer counts as the wall clock, because most harnesses list that one first.
func (e *exam) wallTimed() string {
	if e.suite == nil {
		return ""
	}
	best := measure.TimerWall
	for _, m := range e.harnessChecks {
		if m.implementation == suite.Candidate && len(m.welcome.Timers) > 0 {
			best = m.welcome.Timers[0]
		}
	}
	for _, c := range e.suite.Cases() {
		timer := c.Timer
		if timer == "" {
			timer = best
		}
		if timer == measure.TimerWall && c.Implementation == suite.Candidate {
			return c.Name()
		}
	}
	if e.suite.NeedsHarness() && best == measure.TimerWall {
		return "the harness"
	}
	return ""
}

// cpuLimit reports a CPU quota: a process that has used it up stops until
// the next period, even during a sample.
func cpuLimit(_ context.Context, e *exam) []Finding {
	_, group, found := strings.Cut("\n"+e.sys.Text("proc/self/cgroup"), "\n0::")
	if !found {
		return nil
	}
	group, _, _ = strings.Cut(group, "\n")
	for group = path.Clean("/" + group); ; group = path.Dir(group) {
		n := counts(e.sys.Text(path.Join("sys/fs/cgroup", group, "cpu.max")))
		if len(n) == 2 && n[1] > 0 {
			return e.hostOnly(warn("cpu limit", "this process may use %.1f CPUs: above that it is paused for up to %.0f ms at a time", n[0]/n[1], n[1]/1000).
				withFix("start the container without a CPU quota; pin it to CPUs instead (--cpuset-cpus)"))
		}
		if group == "/" {
			return nil
		}
	}
}

// load reports whether other work runs on the machine.
func load(_ context.Context, e *exam) []Finding {
	load, threads := e.cpu.state.Load1, e.threads()
	if load <= float64(threads)/2 {
		return []Finding{ok("load", "%.1f on %s", load, words.Plural(threads, "CPU"))}
	}
	f := warn("load", "the machine is busy: load %.1f on %s", load, words.Plural(threads, "CPU")).
		withFix("stop other work on this machine (top shows it), or measure elsewhere")
	if e.onHost() && e.wallTimed() != "" {
		f.Fix += "; CPU time is less affected: measure: {timer: cpu}"
	}
	return e.hostOnly(f)
}
