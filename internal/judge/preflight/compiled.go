package preflight

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

// checkCompiled checks the compiler's output against the hardware and the suite.
func (l *checker) checkCompiled(kernels []measure.Kernel, points []point) {
	if len(kernels) == 0 {
		return
	}
	kernels = l.forTarget(kernels)
	for _, k := range kernels {
		l.reportRemarks(k)
		owners := ownersOf(k, points)
		if len(owners) == 0 {
			owners = []point{{Preflight: l.Suite.Preflight()}} // no owner: the suite's own gates apply
		}
		for _, p := range owners {
			l.sharedCompiled(k, p)
			l.checkLaunchBounds(k, p)
			l.checkSpills(k, p)
			l.checkOccupancy(k, p)
		}
	}
	l.reportUnmatched(kernels, points)
}

// forTarget returns the kernels of the closest architecture that runs on the target.
func (l *checker) forTarget(kernels []measure.Kernel) []measure.Kernel {
	if !l.Target.Known() {
		return kernels
	}
	order := gpu.ArchNames()
	best := ""
	var have []string
	for _, k := range kernels {
		a, err := gpu.FindArch(k.Arch)
		if err != nil || slices.Contains(have, k.Arch) {
			continue
		}
		have = append(have, k.Arch)
		if runsOn(k.Arch, l.Target.Arch) && slices.Index(order, a.Name) > slices.Index(order, best) {
			best = a.Name
		}
	}
	g := Gate{Name: Architecture, Arch: l.Target.Arch}
	switch best {
	case l.Target.Arch:
		l.add(g.with(Pass, "", "the build has code for %s", best))
	case "":
		l.add(g.with(Warn, "compile with -arch="+l.Target.Arch, "the build has code only for %s, none that runs on %s: the driver compiles it from PTX at load time, or loading fails",
			strings.Join(have, ", "), l.Target.Arch))
		return kernels
	default:
		l.add(g.with(Pass, "", "the build has code for %s, which runs on %s", best, l.Target.Arch))
	}
	return slices.DeleteFunc(slices.Clone(kernels), func(k measure.Kernel) bool {
		a, err := gpu.FindArch(k.Arch)
		return err != nil || a.Name != best || !runsOn(k.Arch, l.Target.Arch)
	})
}

// ownersOf returns the configs that use the kernel, one per kind of launch.
func ownersOf(k measure.Kernel, points []point) []point {
	var owners []point
	for _, p := range points {
		if !p.onDevice() || p.Kernel != "" && !named(p.Kernel, k) {
			continue
		}
		if !slices.ContainsFunc(owners, func(o point) bool { return o.Preflight == p.Preflight }) {
			owners = append(owners, p)
		}
	}
	return owners
}

func named(glob string, k measure.Kernel) bool {
	for _, name := range []string{k.Name, k.Symbol} {
		if ok, err := path.Match(glob, name); glob == name || err == nil && ok && name != "" {
			return true
		}
	}
	return false
}

// reportUnmatched reports a benchmark whose kernel is not in the build: a wrong name, or a
// template that was never instantiated.
func (l *checker) reportUnmatched(kernels []measure.Kernel, points []point) {
	told := map[string]bool{}
	for _, p := range points {
		glob := p.Kernel
		if glob == "" || !p.onDevice() || told[p.benchmark+glob] ||
			slices.ContainsFunc(kernels, func(k measure.Kernel) bool { return named(glob, k) }) {
			continue
		}
		told[p.benchmark+glob] = true
		var names []string
		for _, k := range kernels {
			if !slices.Contains(names, k.Name) {
				names = append(names, k.Name)
			}
		}
		g := Gate{Name: Symbols, Benchmark: p.benchmark, Config: p.config, Kernel: glob}
		l.add(g.with(Stop, "correct the name in the suite; or, if it is a template, instantiate it: "+instantiation(glob),
			"no kernel in the build is named %s; it has %s", glob, some(names, 6)))
	}
}

func (l *checker) sharedCompiled(k measure.Kernel, p point) {
	arch, ok := l.Target.archOf(k.Arch)
	dynamic := max(p.Dynamic, 0)
	if !ok || k.SharedBytes+dynamic == 0 {
		return
	}
	g := about(SharedMemory, k, p)
	g.Unit = "bytes"
	g = checkShared(g, arch, k.SharedBytes, dynamic, "as compiled")
	if g.State == Pass && p.Shared >= 0 && p.Kernel != "" && p.Shared != k.SharedBytes {
		g = g.with(Warn, "correct preflight.shared: the checks before compiling rely on it",
			"%d bytes of static shared memory per block as compiled, but %d in the suite", k.SharedBytes, p.Shared)
	}
	l.add(g)
}

// checkLaunchBounds checks the block size against the one that the kernel is compiled for.
func (l *checker) checkLaunchBounds(k measure.Kernel, p point) {
	if k.MaxThreads == 0 || p.Threads <= k.MaxThreads {
		return
	}
	g := about(Block, k, p)
	g.Number, g.Limit, g.Unit = float64(p.Threads), float64(k.MaxThreads), "threads"
	l.add(g.with(Stop, fmt.Sprintf("use __launch_bounds__(%d), or a smaller block", p.Threads),
		"%d threads per block, but it is compiled for at most %d: the launch would fail", p.Threads, k.MaxThreads))
}

// reportRemarks passes on remarks of the compiler: a loss that it numbers, such as (C7518),
// is one that a profile would show later.
func (l *checker) reportRemarks(k measure.Kernel) {
	for _, r := range k.Remarks {
		if strings.HasPrefix(r, "(C") {
			l.add(Gate{Name: Remarks, State: Warn, Kernel: k.Name, Arch: k.Arch, Text: r, Fix: "treat it as a finding: the compiler gave up an optimization that the kernel is written for"})
		}
	}
}

// spillStop is the number of spilled bytes per thread from which a spill stops a change,
// if the suite does not decide. A few bytes cost little; dozens in an inner loop cause
// unintended memory traffic.
const spillStop = 64

func (l *checker) checkSpills(k measure.Kernel, p point) {
	g := about(Spills, k, p)
	g.Unit = "bytes"
	if k.Spill == nil {
		l.add(g.with(Unknown, "compile with -Xptxas -v", "it has %s of stack, and the log does not say whether registers are spilled there", size(k.StackBytes+k.LocalBytes)))
		return
	}
	spilled := max(k.Spill.StoreBytes, k.Spill.LoadBytes)
	g.Number = float64(spilled)
	if p.Spills == "auto" {
		g.Limit = spillStop
	}
	state := Stop
	switch {
	case spilled == 0:
		l.add(g.with(Pass, "", "%d registers, nothing spilled", k.Registers))
		return
	case p.Spills == "allow":
		l.add(g.with(Pass, "", "%d registers, %s spilled per thread, which the suite allows", k.Registers, size(spilled)))
		return
	case p.Spills == "warn", p.Spills != "stop" && spilled < spillStop:
		state = Warn
	}
	l.add(g.with(state, l.spillFix(k, p), "%d registers, spilled per thread: stores %s, loads %s", k.Registers, size(k.Spill.StoreBytes), size(k.Spill.LoadBytes)))
}

// spillFix says how to avoid a spill, depending on what limits the registers: the
// hardware, a bound, or the block size.
func (l *checker) spillFix(k measure.Kernel, p point) string {
	const fewer = "keep fewer values live: use smaller tiles per thread, unroll less, or recompute values"
	arch, ok := l.Target.archOf(k.Arch)
	if !ok {
		return fewer
	}
	most := arch.RegistersPerThread.Value
	threads := max(p.Threads, k.MaxThreads)
	if threads > 0 {
		most = arch.RegisterBudget(threads, 1)
	}
	// The compiler leaves the last registers of a budget unused, in steps of eight.
	if k.Registers+8 <= most {
		room := fmt.Sprintf("a thread may have up to %d", most)
		if threads > 0 {
			room += fmt.Sprintf(" with %d threads per block", threads)
		}
		return fmt.Sprintf("allow more registers (%s): raise or remove -maxrregcount, or request fewer blocks in __launch_bounds__; or %s", room, fewer)
	}
	if threads > 32 && most < arch.RegistersPerThread.Value {
		half := threads / 2
		return fmt.Sprintf("use smaller blocks: %d threads leave %d registers for each, %d leave %d (launch fewer, and set __launch_bounds__ to match); or %s",
			threads, most, half, arch.RegisterBudget(half, 1), fewer)
	}
	return fewer
}

func (l *checker) checkOccupancy(k measure.Kernel, p point) {
	threads := cmp.Or(p.Threads, k.MaxThreads)
	arch, ok := l.Target.archOf(k.Arch)
	g := about(Occupancy, k, p)
	g.Limit, g.Unit = p.Occupancy, "of the warps"
	if threads == 0 || !ok {
		if p.Occupancy > 0 {
			l.add(g.with(Unknown, "set preflight.threads or launch.block", "the number of threads per block is not known"))
		}
		return
	}
	if threads > arch.ThreadsPerBlock.Value || k.MaxThreads > 0 && threads > k.MaxThreads ||
		k.SharedBytes+max(p.Dynamic, 0) > arch.SharedPerBlock.Value {
		return // already reported
	}
	o, err := arch.Occupancy(gpu.Launch{
		Threads: threads, Registers: k.Registers, StaticShared: k.SharedBytes, DynamicShared: max(p.Dynamic, 0), Barriers: k.Barriers,
	})
	if err != nil {
		return
	}
	g.Number = o.Occupancy
	warps := fmt.Sprintf("%.0f %%: %d of %d warps, limited by %s", 100*o.Occupancy, o.WarpsPerSM, arch.WarpsPerSM.Value, o.LimitedBy())
	switch {
	case o.BlocksPerSM == 0:
		l.add(g.with(Stop, raise(o, "use a smaller block, fewer registers or less shared memory"), "cannot be launched: %s", strings.Join(o.Refused, "; ")))
	case o.Occupancy < p.Occupancy:
		l.add(g.with(Stop, raise(o, "use fewer registers or less shared memory"), "%s; the suite requires %.0f %%", warps, 100*p.Occupancy))
	default:
		l.add(g.with(Pass, "", "%s", warps))
	}
}

func raise(o gpu.Occupancy, otherwise string) string {
	if len(o.Options) == 0 {
		return otherwise
	}
	return o.Options[0].Text
}

func about(name Name, k measure.Kernel, p point) Gate {
	return Gate{Name: name, Benchmark: p.benchmark, Config: p.config, Kernel: k.Name, Arch: k.Arch}
}

func some(names []string, n int) string {
	if more := len(names) - n; more > 1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:n], ", "), more)
	}
	return strings.Join(names, ", ")
}
