package diagnose

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/measure"
)

// codeQuantities are the quantities of the machine code, in addition to those of a run. They count
// instructions in the code, not executed ones.
var codeQuantities = []profile.Quantity{
	{Name: "load_width", Unit: "bytes", About: "width of global loads per thread"},
	{Name: "store_width", Unit: "bytes", About: "width of global stores per thread"},
	{Name: "tensor_code", About: "tensor core instructions in the code"},
	{Name: "fp64_code", About: "FP64 instructions in the code"},
	{Name: "barrier_code", About: "barriers in the code"},
	{Name: "atomic_code", About: "atomic operations in the code"},
	{Name: "local_code", About: "local memory loads and stores in the code"},
	{Name: "spill_bytes", Unit: "bytes", About: "bytes spilled by the compiler"},
	{Name: "vector_width", Unit: "bytes", About: "width of the host's floating-point instructions in loops"},
	{Name: "code_size", About: "instructions in the code"},
}

// side is one side of a comparison.
type side struct {
	values  values
	digests map[string]string // of everything that may decide about the time, by function and architecture
	traced  float64           // total nanoseconds if the tool saw all launches; else 0
}

func newSide(s Subject) side {
	x := side{values: s.values(), digests: map[string]string{}}
	if s.Profile == nil {
		return x
	}
	if launches, ns := traced(s.Profile); launches > 0 {
		x.values["launches"], x.traced = launches, ns
	}
	var mix measure.Mix
	all, own := functionsOf(s)
	for _, f := range all {
		if ofHost(f.Arch) || slices.Contains(own, f) { // on the host, how often a function runs is decided by its callers
			x.digests[f.Kernel+" "+f.Arch] = f.Digest
		}
	}
	for _, f := range own {
		if f.Mix != nil {
			mix = mix.Add(*f.Mix)
		}
	}
	if mix.Instructions > 0 {
		countCode(x.values, mix)
	}
	for _, k := range s.Profile.Code.Kernels {
		if baseName(k.Name) == baseName(s.Launch.Kernel) && ofArch(k.Arch, s.Launch.CC) || len(s.Profile.Code.Kernels) == 1 {
			compiled(x.values, k)
			break
		}
	}
	return x
}

// traced counts the launches of a trace and adds up their times. It returns 0 for a tool that profiles one
// launch in depth. A trace has every launch, each with the number of launches of its kernel. A summary has
// that number and the mean time, as do OpenCL's events for each shape of a kernel.
func traced(p *profile.Profile) (count, ns float64) {
	each := map[string]int{}
	for _, l := range p.Launches {
		if each[l.Kernel]++; p.Tool.Name == openCL {
			each[l.Kernel] = 1
		}
	}
	for _, l := range p.Launches {
		f := l.Facts()
		n, ok := f["launches"]
		if !ok || !isTime(n) {
			return 0, 0
		}
		n /= float64(each[l.Kernel])
		count, ns = count+n, ns+n*f["time_ns"]
	}
	return count, ns
}

// functionsOf returns the functions that the tool can see, and those of the launch. If none has its name, these are all, as
// for a kernel that was inlined into its caller.
func functionsOf(s Subject) (all, own []profile.Function) {
	for _, f := range s.Profile.Code.Functions {
		if !ofArch(f.Arch, s.Launch.CC) || ofHost(f.Arch) && slices.Contains(deviceTools, s.Profile.Tool.Name) {
			continue
		}
		all = append(all, f)
		if baseName(f.Kernel) == baseName(s.Launch.Kernel) {
			own = append(own, f)
		}
	}
	if len(own) > 0 {
		return all, own
	}
	return all, all
}

// deviceTools are tools that see kernels on devices. A driver may compile those at run time, so an
// identical program does not mean identical kernels.
var deviceTools = []string{"ncu", "nsys", "rocprofv3", openCL}

const openCL = "opencl"

// ofHost reports whether machine code is for the host and not for a GPU.
func ofHost(arch string) bool {
	return arch != "" && !strings.HasPrefix(arch, "sm_") && !strings.HasPrefix(arch, "gfx")
}

// ofArch reports whether code is for the GPU of a launch. A launch without a compute capability
// matches any code, including the host's.
func ofArch(arch, cc string) bool {
	return cc == "" || strings.TrimRight(strings.TrimPrefix(arch, "sm_"), "af") == strings.ReplaceAll(cc, ".", "")
}

// baseName returns a function's name without result type, namespace, template arguments,
// parameters, and suffixes of compilers and tools.
func baseName(name string) string {
	name = strings.ReplaceAll(name, "(anonymous namespace)::", "")
	if i := strings.IndexAny(name, "<(@'."); i > 0 {
		name = name[:i]
	}
	name = strings.TrimSpace(name)
	return name[strings.LastIndexAny(name, " :*&")+1:]
}

// countCode adds the quantities of an instruction mix. If there are loops, code
// outside them does not count for widths.
func countCode(v values, m measure.Mix) {
	v["code_size"] = float64(m.Instructions)
	device := false
	counts := map[string]int{}
	for _, c := range m.Counts {
		counts[c.Class] += c.Count
		device = device || strings.HasSuffix(c.Class, " global") || strings.HasSuffix(c.Class, " constant")
	}
	if !device {
		v.setWidth("vector_width", m, measure.OpVector, measure.OpFMA, measure.OpScalarFloat, measure.OpDivide)
		return
	}
	v.setWidth("load_width", m, measure.OpLoadGlobal, measure.OpAsyncCopy)
	v.setWidth("store_width", m, measure.OpStoreGlobal)
	for name, classes := range map[string][]string{
		"tensor_code": {measure.OpTensor}, "fp64_code": {measure.OpFP64}, "barrier_code": {measure.OpBarrier},
		"atomic_code": {measure.OpAtomic}, "local_code": {measure.OpLoadLocal, measure.OpStoreLocal},
	} {
		sum := 0
		for _, c := range classes {
			sum += counts[c]
		}
		v[name] = float64(sum)
	}
}

// setWidth sets the width by which some classes move or compute most of their bytes. A mean would
// weigh the narrow remainder loop of a row as much as the wide one.
func (v values) setWidth(name string, m measure.Mix, classes ...string) {
	all, looped := map[int]int{}, map[int]int{}
	for _, c := range m.Counts {
		if c.Bytes > 0 && slices.Contains(classes, c.Class) {
			all[c.Bytes] += c.Count * c.Bytes
			if c.InLoops > 0 {
				looped[c.Bytes] += c.InLoops * c.Bytes
			}
		}
	}
	if len(looped) > 0 {
		all = looped
	}
	most, width := 0, 0
	for w, bytes := range all {
		if bytes > most || bytes == most && w > width {
			most, width = bytes, w
		}
	}
	if width > 0 {
		v[name] = float64(width)
	}
}

// compiled adds the compiler's figures that the tool did not report.
func compiled(v values, k measure.Kernel) {
	for name, x := range map[string]int{"registers": k.Registers, "stack_bytes": k.StackBytes} {
		if _, there := v.get(name); !there && (x > 0 || name != "registers") {
			v[name] = float64(x)
		}
	}
	if k.Spill != nil {
		v["spill_bytes"] = float64(k.Spill.StoreBytes + k.Spill.LoadBytes)
	}
}

// identical reports whether both sides have the same, nonempty machine code.
func identical(a, b side) bool {
	if len(a.digests) == 0 || len(a.digests) != len(b.digests) {
		return false
	}
	for name, digest := range a.digests {
		if digest == "" || b.digests[name] != digest {
			return false
		}
	}
	return true
}

// changes returns the quantities of both sides that moved.
func changes(before, after values) []Change {
	var list []Change
	for _, q := range compared() {
		x, inBefore := before.get(q.Name)
		y, inAfter := after.get(q.Name)
		if inBefore && inAfter && logChange(x, y, q.Unit) > 0.01 && !negligible(q.Name, max(x, y)) {
			list = append(list, changeOf(q, before, after))
		}
	}
	slices.SortStableFunc(list, func(a, b Change) int {
		return cmp.Compare(logChange(*b.Before, *b.After, b.Unit), logChange(*a.Before, *a.After, a.Unit))
	})
	return list
}

// negligible reports whether a stall is negligible: a hundredth of a cycle may double without effect.
// Shares of stalls repeat what their cycles show.
func negligible(name string, size float64) bool {
	return strings.HasPrefix(name, "stall_") && (size < 0.1 || strings.HasSuffix(name, "_pct"))
}

// logChange returns how much a value changed, as a logarithm of at most 5. Percentages below 1 count as
// 1, so that tiny ones do not matter; a value that is new or gone counts as 5.
func logChange(x, y float64, unit string) float64 {
	if unit == "%" {
		x, y = max(x, 1), max(y, 1)
	}
	if x == y {
		return 0
	}
	if x <= 0 || y <= 0 {
		return 5
	}
	return min(5, math.Abs(math.Log(y/x)))
}

func changeOf(q profile.Quantity, before, after values) Change {
	c := Change{Quantity: q.Name, About: q.About, Unit: q.Unit}
	if x, ok := before.get(q.Name); ok {
		c.Before = &x
	}
	if x, ok := after.get(q.Name); ok {
		c.After = &x
	}
	return c
}

// compared returns all quantities of a difference: those of rules and those of the code.
func compared() []profile.Quantity {
	return slices.Concat(profile.Quantities(), derived, codeQuantities)
}
