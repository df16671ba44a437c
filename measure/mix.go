package measure

import (
	"cmp"
	"slices"
	"strings"
)

// Mix is what the machine code of a function consists of. It is counted in the code,
// not in a run: what stands in a loop counts once, and once more in InLoops.
type Mix struct {
	Instructions int        `json:"instructions"`
	InLoops      int        `json:"in_loops,omitempty"`
	Counts       []MixCount `json:"counts"` // by class, then bytes
}

// MixCount is how many instructions there are of one kind.
type MixCount struct {
	Class   string `json:"class"`           // "load global", "fma32", "vector", ...
	Bytes   int    `json:"bytes,omitempty"` // that one of them moves or works on, for a thread; 0 where that says nothing
	Count   int    `json:"count"`
	InLoops int    `json:"in_loops,omitempty"`
}

// Classes of instructions. The first list is that of GPUs, the second that of hosts;
// the third is common.
const (
	OpLoadGlobal   = "load global" // also through an address that may point anywhere
	OpLoadShared   = "load shared"
	OpLoadLocal    = "load local" // what does not fit into registers
	OpLoadConstant = "load constant"
	OpStoreGlobal  = "store global"
	OpStoreShared  = "store shared"
	OpStoreLocal   = "store local"
	OpAsyncCopy    = "async copy" // from global to shared memory, past the registers
	OpFMA32        = "fma32"
	OpFP32         = "fp32" // other than fused
	OpFP64         = "fp64"
	OpFP16         = "fp16"
	OpTensor       = "tensor"
	OpSpecial      = "special"    // sine, logarithm, reciprocal, root
	OpConversion   = "conversion" // between formats of numbers
	OpBarrier      = "barrier"
	OpFence        = "fence" // waits for memory
	OpAtomic       = "atomic"
	OpShuffle      = "shuffle" // between the threads of a warp

	OpLoad        = "load"
	OpStore       = "store"
	OpVector      = "vector"       // several numbers at once
	OpScalarFloat = "scalar float" // one
	OpFMA         = "fma"
	OpDivide      = "divide" // also roots
	OpCall        = "call"

	OpInteger = "integer" // also addresses and moves
	OpBranch  = "branch"
	OpOther   = "other"
)

// Instruction is one instruction of a function, as far as a mix asks.
type Instruction struct {
	At    uint64 // its address
	Class string
	Bytes int
	Jumps bool
	To    uint64 // where it jumps to, if it does and the code says
}

// CountMix counts the instructions of one function. What stands between a jump back
// and its target is in a loop; a jump to itself is none, it ends a function.
func CountMix(code []Instruction) Mix {
	loops := loopsOf(code)
	type kind struct {
		class string
		bytes int
	}
	counts := map[kind]MixCount{}
	m := Mix{Instructions: len(code)}
	for _, in := range code {
		k := kind{in.Class, in.Bytes}
		c := counts[k]
		c.Class, c.Bytes = in.Class, in.Bytes
		c.Count++
		if inside(loops, in.At) {
			c.InLoops++
			m.InLoops++
		}
		counts[k] = c
	}
	for _, c := range counts {
		m.Counts = append(m.Counts, c)
	}
	m.sort()
	return m
}

// Add joins the mix of another function of the same name.
func (m Mix) Add(other Mix) Mix {
	sum := Mix{Instructions: m.Instructions + other.Instructions, InLoops: m.InLoops + other.InLoops, Counts: slices.Clone(m.Counts)}
	for _, c := range other.Counts {
		i := slices.IndexFunc(sum.Counts, func(o MixCount) bool { return o.Class == c.Class && o.Bytes == c.Bytes })
		if i < 0 {
			sum.Counts = append(sum.Counts, c)
			continue
		}
		sum.Counts[i].Count += c.Count
		sum.Counts[i].InLoops += c.InLoops
	}
	sum.sort()
	return sum
}

func (m *Mix) sort() {
	slices.SortFunc(m.Counts, func(a, b MixCount) int {
		return cmp.Or(strings.Compare(a.Class, b.Class), cmp.Compare(a.Bytes, b.Bytes))
	})
}

type span struct{ from, to uint64 }

// loopsOf are the spans of all loops, in order, joined where they touch.
func loopsOf(code []Instruction) []span {
	var spans []span
	for _, in := range code {
		if in.Jumps && in.To < in.At {
			spans = append(spans, span{in.To, in.At})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	joined := spans[:0]
	for _, s := range spans {
		if n := len(joined); n > 0 && s.from <= joined[n-1].to {
			joined[n-1].to = max(joined[n-1].to, s.to)
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

func inside(spans []span, at uint64) bool {
	i, found := slices.BinarySearchFunc(spans, at, func(s span, at uint64) int { return cmp.Compare(s.from, at) })
	return found || i > 0 && at <= spans[i-1].to
}
