package measure

import (
	"cmp"
	"slices"
	"strings"
)

// Mix counts the instructions in the machine code of a function. The counts are static: an instruction in
// a loop counts once, and also in InLoops.
type Mix struct {
	Instructions int        `json:"instructions"`
	InLoops      int        `json:"in_loops,omitempty"`
	Counts       []MixCount `json:"counts"` // sorted by class, then bytes
}

// MixCount is the number of instructions of one kind.
type MixCount struct {
	Class   string `json:"class"`           // "load global", "fma32", "vector", ...
	Bytes   int    `json:"bytes,omitempty"` // that one instruction moves or processes per thread; 0 if not meaningful
	Count   int    `json:"count"`
	InLoops int    `json:"in_loops,omitempty"`
}

// Classes of instructions. The first list is for GPUs, the second for hosts, the third for both.
const (
	OpLoadGlobal   = "load global" // including generic addresses
	OpLoadShared   = "load shared"
	OpLoadLocal    = "load local" // data that does not fit into registers
	OpLoadConstant = "load constant"
	OpStoreGlobal  = "store global"
	OpStoreShared  = "store shared"
	OpStoreLocal   = "store local"
	OpAsyncCopy    = "async copy" // from global to shared memory, bypassing the registers
	OpFMA32        = "fma32"
	OpFP32         = "fp32" // except fused multiply-add
	OpFP64         = "fp64"
	OpFP16         = "fp16"
	OpTensor       = "tensor"
	OpSpecial      = "special"    // sine, logarithm, reciprocal, square root
	OpConversion   = "conversion" // between number formats
	OpBarrier      = "barrier"
	OpFence        = "fence" // waits for memory
	OpAtomic       = "atomic"
	OpShuffle      = "shuffle" // between the threads of a warp

	OpLoad        = "load"
	OpStore       = "store"
	OpVector      = "vector"       // several numbers per instruction
	OpScalarFloat = "scalar float" // one number per instruction
	OpFMA         = "fma"
	OpDivide      = "divide" // including square roots
	OpCall        = "call"

	OpInteger = "integer" // including addresses and moves
	OpBranch  = "branch"
	OpOther   = "other"
)

// Instruction holds the properties of an instruction that a mix needs.
type Instruction struct {
	At    uint64 // address
	Class string
	Bytes int
	Jumps bool
	To    uint64 // jump target, if Jumps is set
}

// CountMix counts the instructions of one function. The code between a backward jump and its target is in
// a loop. A jump to itself is not a loop: it marks the end of a function.
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

// Add returns the sum of the mixes of two functions with the same name.
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

// loopsOf returns the spans of all loops, in order, with overlapping ones merged.
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
