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
		g.State, g.Number = Unknown, float64(static+dynamic)
		g.Text = fmt.Sprintf("%s of shared memory per block, according to the suite: the target GPU is not known", size(static+dynamic))
		g.Fix = nameGPU
		l.add(g)
		return
	}
	l.add(checkShared(g, *l.Target.arch, static, dynamic, "according to the suite"))
}

const nameGPU = "name the GPU, such as --arch sm_89 or --gpu L4"

// checkShared checks the shared memory of a block against both limits: static memory has its
// own limit, and more must be requested dynamically.
func checkShared(g Gate, a gpu.Arch, static, dynamic int, by string) Gate {
	limit, total := a.SharedStatic.Value, a.SharedPerBlock.Value
	g.Arch = a.Name
	switch {
	case static+dynamic > total:
		g.State, g.Number, g.Limit = Stop, float64(static+dynamic), float64(total)
		g.Text = fmt.Sprintf("%s of shared memory per block, %s; %s has %s", size(static+dynamic), by, a.Name, size(total))
		g.Fix = "use a smaller tile, fewer stages, or narrower types in shared memory" + nextArchWith(a, static+dynamic)
	case static > limit:
		g.State, g.Number, g.Limit = Stop, float64(static), float64(limit)
		g.Text = fmt.Sprintf("%s of static shared memory per block, %s; the limit is %s", size(static), by, size(limit))
		g.Fix = fmt.Sprintf("make it dynamic: declare it extern __shared__, and call cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, %d) before the launch "+
			"(up to %s on %s); or use a smaller tile", static+dynamic, size(total), a.Name)
	default:
		g.State, g.Number, g.Limit = Pass, float64(static+dynamic), float64(limit)
		if static+dynamic > limit {
			g.Limit = float64(total)
		}
		g.Text = fmt.Sprintf("%s per block (max %s), %s", size(static+dynamic), size(int(g.Limit)), by)
	}
	return g
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
	g := Gate{Name: Block, Benchmark: p.benchmark, Config: p.config, State: Pass, Number: float64(p.Threads), Limit: 1024, Unit: "threads"}
	g.Text = fmt.Sprintf("%d threads per block (max %d)", p.Threads, 1024)
	if p.Threads > 1024 {
		g.State = Stop
		g.Text = fmt.Sprintf("%d threads per block, the maximum is 1024", p.Threads)
		g.Fix = "use a smaller block, with more work per thread"
	}
	if p.launch != nil {
		for i, axis := range []string{"x", "y", "z"} {
			for _, d := range []struct {
				what       string
				value, max int
			}{{"block", p.launch.Block[i], mostBlock[i]}, {"grid", p.launch.Grid[i], mostGrid[i]}} {
				if d.value > d.max {
					g.State, g.Number, g.Limit, g.Unit = Stop, float64(d.value), float64(d.max), d.what
					g.Text = fmt.Sprintf("the %s has %d in %s, the maximum is %d", d.what, d.value, axis, d.max)
					g.Fix = "put the largest dimension in x, which allows 2147483647 blocks"
					if d.what == "block" {
						g.Fix = "use a smaller block, or put its threads in x"
					}
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
