package preflight

import (
	"fmt"
	"path"
	"slices"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// point is a config of a benchmark with what the suite declares for it.
type point struct {
	benchmark, config string
	suite.Preflight
	launch *suite.Launch
	claims suite.Claims
	work   []gpu.Work // of its cases, one per cache mode
	names  []string   // of those cases
}

// onDevice reports whether the config has a kernel with blocks and shared memory, as
// far as the suite says.
func (p point) onDevice() bool {
	return p.launch == nil || slices.Contains([]string{".cubin", ".ptx", ".fatbin"}, path.Ext(p.launch.File))
}

// checkDeclaredShared checks the shared memory that the suite computes, before anything
// is compiled.
func (l *checker) checkDeclaredShared(p point) {
	static, dynamic := max(p.Shared, 0), max(p.Dynamic, 0)
	if !p.onDevice() || static+dynamic == 0 {
		return
	}
	g := Gate{Name: SharedMemory, Benchmark: p.benchmark, Config: p.config, Unit: "bytes"}
	if !l.Target.Known() {
		g.Number = float64(static + dynamic)
		l.add(g.with(Unknown, "name the GPU, such as --arch sm_89 or --gpu L4", "%s of shared memory per block, according to the suite: the target GPU is not known", size(static+dynamic)))
		return
	}
	l.add(checkShared(g, *l.Target.arch, static, dynamic, "according to the suite"))
}

// checkShared checks the shared memory of a block against both limits: static memory has its
// own limit, and more must be requested dynamically.
func checkShared(g Gate, a gpu.Arch, static, dynamic int, by string) Gate {
	limit, total := a.SharedStatic.Value, a.SharedPerBlock.Value
	g.Arch = a.Name
	switch {
	case static+dynamic > total:
		g.Number, g.Limit = float64(static+dynamic), float64(total)
		return g.with(Stop, "use a smaller tile, fewer stages, or narrower types in shared memory"+nextArchWith(a, static+dynamic),
			"%s of shared memory per block, %s; %s has %s", size(static+dynamic), by, a.Name, size(total))
	case static > limit:
		g.Number, g.Limit = float64(static), float64(limit)
		fix := fmt.Sprintf("make it dynamic: declare it extern __shared__, and call cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, %d) before the launch "+
			"(up to %s on %s); or use a smaller tile", static+dynamic, size(total), a.Name)
		return g.with(Stop, fix, "%s of static shared memory per block, %s; the limit is %s", size(static), by, size(limit))
	case static+dynamic > limit:
		limit = total
	}
	g.Number, g.Limit = float64(static+dynamic), float64(limit)
	return g.with(Pass, "", "%s per block (max %s), %s", size(static+dynamic), size(limit), by)
}

// nextArchWith names the next architecture with enough shared memory.
func nextArchWith(than gpu.Arch, bytes int) string {
	later := false
	for _, a := range gpu.Archs() {
		if later && a.SharedPerBlock.Value >= bytes {
			return fmt.Sprintf("; %s has %s", a.Name, size(a.SharedPerBlock.Value))
		}
		later = later || a.Name == than.Name
	}
	return ""
}

// Launch limits that are the same on every architecture since sm_30.
var (
	mostBlock = [3]int{1024, 1024, 64}
	mostGrid  = [3]int{1<<31 - 1, 65535, 65535}
)

// checkDeclaredBlock checks the launch dimensions that the suite computes.
func (l *checker) checkDeclaredBlock(p point) {
	if !p.onDevice() || p.Threads == 0 {
		return
	}
	g := Gate{Name: Block, Benchmark: p.benchmark, Config: p.config, Number: float64(p.Threads), Limit: 1024, Unit: "threads"}
	g = g.with(Pass, "", "%d threads per block (max 1024)", p.Threads)
	if p.Threads > 1024 {
		g = g.with(Stop, "use a smaller block, with more work per thread", "%d threads per block, the maximum is 1024", p.Threads)
	}
	if p.launch != nil {
		for i, axis := range []string{"x", "y", "z"} {
			for _, d := range []struct {
				what, fix  string
				value, max int
			}{
				{"block", "use a smaller block, or put its threads in x", p.launch.Block[i], mostBlock[i]},
				{"grid", "put the largest dimension in x, which allows 2147483647 blocks", p.launch.Grid[i], mostGrid[i]},
			} {
				if d.value > d.max {
					g.Number, g.Limit, g.Unit = float64(d.value), float64(d.max), d.what
					g = g.with(Stop, d.fix, "the %s has %d in %s, the maximum is %d", d.what, d.value, axis, d.max)
				}
			}
		}
	}
	l.add(g)
}

// size formats bytes in KB of 1024, as compilers and guides do, or in bytes if that
// would lose some.
func size(n int) string {
	switch {
	case n >= 1024 && n%1024 == 0:
		return fmt.Sprintf("%d KB", n/1024)
	case n >= 1024:
		return fmt.Sprintf("%.1f KB", float64(n)/1024)
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}
