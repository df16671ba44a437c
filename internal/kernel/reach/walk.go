package reach

import (
	"fmt"
	"hash"
	"slices"
	"strings"
)

// walk hashes everything that can be reached from where it starts. Functions are numbered in the order in which they
// are found, so that neither their names nor their addresses matter.
type walk struct {
	*object
	h      hash.Hash
	kernel bool // it starts at a kernel: positions count, and computed branches are refused
	start  uint64
	number map[int]int
	queue  []int
}

// finish hashes all blocks that were found, and those that they lead to.
func (w *walk) finish() error {
	for len(w.queue) > 0 {
		i := w.queue[0]
		w.queue = w.queue[1:]
		b := &w.blocks[i]
		if b.unknown != "" {
			return fmt.Errorf("the code at %#x: %s", b.start, b.unknown)
		}
		if w.kernel && b.indirect {
			return fmt.Errorf("the code at %#x branches to an address that it computes", b.start)
		}
		fmt.Fprintf(w.h, "block %s\n", b.digest)
		if w.kernel {
			fmt.Fprintf(w.h, "at %d, %d from the kernel\n", b.start%page, b.start-w.start)
		}
		for _, at := range b.refs {
			if err := w.address(at); err != nil {
				return err
			}
		}
		if b.falls {
			if i+1 == len(w.blocks) {
				return fmt.Errorf("the code at %#x has no end", b.start)
			}
			fmt.Fprintf(w.h, "falls %d\n", w.find(i+1))
		}
	}
	return nil
}

// find returns the number of a block, and queues it if it is new.
func (w *walk) find(i int) int {
	n, ok := w.number[i]
	if !ok {
		n = len(w.number)
		w.number[i] = n
		w.queue = append(w.queue, i)
	}
	return n
}

// address hashes what is at an address that something refers to.
func (w *walk) address(at uint64) error {
	if len(w.number) > maxReach {
		return fmt.Errorf("it reaches more than %d functions", maxReach)
	}
	s := w.sectionAt(at)
	if s == nil {
		return fmt.Errorf("it refers to the address %#x, where nothing is loaded", at)
	}
	switch kindOf(s) {
	case isStub:
		slot, ok := w.stub(at)
		if !ok {
			return fmt.Errorf("it calls the unknown stub at %#x", at)
		}
		return w.refer(slot)
	case isCode:
		i := w.blockAt(at)
		if i < 0 {
			return fmt.Errorf("it refers to the code at %#x, which is unknown", at)
		}
		if _, ok := slices.BinarySearch(w.blocks[i].starts, at); !ok { // objdump shows other instructions than those that run
			return fmt.Errorf("it refers to %#x, which is inside an instruction", at)
		}
		fmt.Fprintf(w.h, "code %d+%d\n", w.find(i), at-w.blocks[i].start)
		return nil
	case isSlots:
		slot, ok := w.slots[at]
		if !ok {
			return fmt.Errorf("it refers to the address %#x, which the loader writes", at)
		}
		return w.refer(slot)
	case isData:
		fmt.Fprintf(w.h, "data %s+%d\n", s.Name, at-s.Addr)
		if w.kernel {
			fmt.Fprintf(w.h, "at %d\n", s.Addr%page)
		}
		return nil
	default:
		return fmt.Errorf("it refers to the address %#x in %s", at, s.Name)
	}
}

// refer hashes what the loader writes into a slot.
func (w *walk) refer(t target) error {
	fmt.Fprintf(w.h, "%q %q ", t.name, t.version)
	switch {
	case t.why != "":
		return fmt.Errorf("it refers to %s", t.why)
	case t.inside:
		return w.address(t.at)
	case !harmless(t.name):
		return fmt.Errorf("it uses %s of another library, which may read anything", t.name)
	}
	fmt.Fprintln(w.h)
	return nil
}

// stub returns the slot through which a stub of the procedure linkage table jumps.
func (w *walk) stub(at uint64) (target, bool) {
	i := w.blockAt(at)
	if i < 0 || w.blocks[i].start != at || !w.blocks[i].stub {
		return target{}, false
	}
	slot, ok := w.slots[w.blocks[i].refs[0]]
	return slot, ok
}

// harmlessNames lists functions of the C library that read only memory they are given, and whose code is the same for
// both sides. The mathematical ones are known by their stems.
var harmlessNames = wordsOf(`
memcpy memmove memset memcmp memchr strlen strcmp strncmp malloc calloc realloc free aligned_alloc posix_memalign abort qsort bsearch
__memcpy_chk __memmove_chk __memset_chk __stack_chk_fail __cxa_finalize __gmon_start__ _ITM_deregisterTMCloneTable _ITM_registerTMCloneTable
_Znwm _Znam _ZdlPv _ZdlPvm _ZdaPv _ZdaPvm sincos sincosf abs labs llabs div ldiv rand_r`)

var harmlessMath = wordsOf(`
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf erfc exp exp10 exp2 expm1 fabs fdim floor fma fmax fmin fmod frexp hypot
ilogb ldexp lgamma llrint llround log log10 log1p log2 logb lrint lround modf nearbyint nextafter pow remainder rint round scalbln scalbn sin sinh
sqrt tan tanh tgamma trunc`)

// harmlessStarts are the starts of names of vector functions and of OpenMP.
var harmlessStarts = []string{"_ZGV", "GOMP_", "omp_get_"}

func wordsOf(text string) map[string]bool {
	known := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		known[word] = true
	}
	return known
}

// harmless reports whether a function of another library can neither read nor do anything that a case depends on.
func harmless(name string) bool {
	for _, start := range harmlessStarts {
		if strings.HasPrefix(name, start) {
			return true
		}
	}
	return harmlessNames[name] || harmlessMath[name] ||
		harmlessMath[strings.TrimSuffix(name, "f")] || harmlessMath[strings.TrimSuffix(name, "l")]
}
