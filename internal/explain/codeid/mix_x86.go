package codeid

import (
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/measure"
)

var (
	x86FMA     = lazyregexp.New(`^vfn?m(add|sub|addsub|subadd)(132|213|231)?[sp][sdh]$`)
	x86Divide  = lazyregexp.New(`^v?(div|sqrt|rsqrt|rcp|rsqrt14|rcp14)[sp][sdh]$|^i?div[bwlq]?$`)
	x86Move    = lazyregexp.New(`^v?(mov(u|a|nt|h|l|hl|lh)p[sd]|mov(dq[ua]|ntdqa?)(8|16|32|64)?|mov[dq]|movs[sdh]|mov(sh|sl|d)dup|lddqu|broadcast\w+|pbroadcast\w+|maskmov\w+)$`)
	x86Integer = lazyregexp.New(`^(mov(abs|[bwlq]|be|[sz]\w{2})?|add|sub|adc|sbb|and|andn|or|xor|cmp|test|inc|dec|neg|not|i?mul|mulx|sh[lr]|sa[lr]|sh[lr]d|rol|ror|rorx|s[ah][lr]x|lea|set\w+|cmov\w+|bts?|btr|btc|bs[fr]|bzhi|bextr|blsr|blsi|bswap|popcnt|tzcnt|lzcnt|cltq|cqto|cltd|cwtl|xchg|leave)[bwlq]?$`)
)

// classifyX86 classifies an instruction in AT&T syntax, in which the destination comes last. An
// instruction that computes with a value from memory counts as the computation.
func classifyX86(name, operands string) (class string, bytes int, loops bool) {
	for slices.Contains([]string{"rep", "repz", "repnz", "lock", "bnd", "notrack", "data16"}, name) {
		name, operands, _ = strings.Cut(operands, " ")
		operands = strings.TrimSpace(operands)
	}
	width := registerWidth(operands)
	switch {
	case name == "call", name == "callq":
		return measure.OpCall, 0, false
	case strings.HasPrefix(name, "j"):
		// An unconditional backward jump leaves a rarely taken path; loops end in a conditional
		// jump.
		return measure.OpBranch, 0, !strings.HasPrefix(name, "jmp")
	case strings.HasPrefix(name, "ret"):
		return measure.OpBranch, 0, false
	case name == "push":
		return measure.OpStore, 8, false
	case name == "pop":
		return measure.OpLoad, 8, false
	case x86FMA.MatchString(name):
		return measure.OpFMA, floatWidth(name, width), false
	case x86Divide.MatchString(name):
		return measure.OpDivide, floatWidth(name, width), false
	case x86Move.MatchString(name):
		return x86Moved(operands, floatWidth(name, width))
	case strings.HasPrefix(name, "mov") && x86Integer.MatchString(name):
		return x86Moved(operands, integerWidth(name, operands))
	case strings.HasPrefix(name, "cvt"), strings.HasPrefix(name, "vcvt"):
		return measure.OpConversion, 0, false
	case x86Integer.MatchString(name):
		return measure.OpInteger, 0, false
	case width == 0:
		return measure.OpOther, 0, false
	case allSame(operands):
		return measure.OpInteger, 0, false // sets a register to zero
	case floatWidth(name, width) < 16:
		return measure.OpScalarFloat, floatWidth(name, width), false
	}
	return measure.OpVector, width, false
}

// x86Moved classifies a move as a load, a store, or a move between registers, by its operands.
func x86Moved(operands string, bytes int) (class string, width int, loops bool) {
	first, last := firstAndLast(operands)
	switch {
	case strings.Contains(last, "("):
		return measure.OpStore, bytes, false
	case strings.Contains(first, "(") || strings.Contains(first, ":"):
		return measure.OpLoad, bytes, false
	}
	return measure.OpInteger, 0, false
}

// firstAndLast returns the first and the last operand. It ignores commas inside brackets.
func firstAndLast(operands string) (first, last string) {
	depth, from := 0, 0
	for i, c := range operands {
		switch c {
		case '(', '{':
			depth++
		case ')', '}':
			depth--
		case ',':
			if depth == 0 {
				if first == "" {
					first = operands[:i]
				}
				from = i + 1
			}
		}
	}
	return first, operands[from:]
}

// registerWidth returns the width of the widest vector register in bytes; 0 if there is none.
func registerWidth(operands string) int {
	switch {
	case strings.Contains(operands, "%zmm"):
		return 64
	case strings.Contains(operands, "%ymm"):
		return 32
	case strings.Contains(operands, "%xmm"):
		return 16
	}
	return 0
}

// floatWidth returns how many bytes an instruction works on. Its suffix may limit it to one number of
// a vector register. A broadcast fills the whole register.
func floatWidth(name string, width int) int {
	switch {
	case width == 0 || strings.Contains(name, "broadcast"):
		return width
	case strings.HasSuffix(name, "ss"), strings.HasSuffix(name, "movd"):
		return 4
	case strings.HasSuffix(name, "sd"), strings.HasSuffix(name, "movq"),
		strings.HasSuffix(name, "movhps"), strings.HasSuffix(name, "movlps"), strings.HasSuffix(name, "movhpd"), strings.HasSuffix(name, "movlpd"):
		return 8
	case strings.HasSuffix(name, "sh") && !strings.HasSuffix(name, "push"):
		return 2
	}
	return width
}

// integerWidth returns how many bytes an integer move reads or writes.
func integerWidth(name, operands string) int {
	if len(name) == len("movzbl") && (name[3] == 's' || name[3] == 'z') {
		name = name[:5] // the wider side is the register
	}
	switch {
	case strings.HasSuffix(name, "b"):
		return 1
	case strings.HasSuffix(name, "w"):
		return 2
	case strings.HasSuffix(name, "l"):
		return 4
	case strings.HasSuffix(name, "q"):
		return 8
	}
	first, last := firstAndLast(operands)
	register := first
	if strings.Contains(register, "(") {
		register = last
	}
	switch {
	case strings.HasPrefix(register, "%r") && !strings.HasSuffix(register, "d") && !strings.HasSuffix(register, "w") && !strings.HasSuffix(register, "b"):
		return 8
	case strings.HasPrefix(register, "%e"), strings.HasSuffix(register, "d"):
		return 4
	case strings.HasSuffix(register, "l"), strings.HasSuffix(register, "h"), strings.HasSuffix(register, "b"):
		return 1
	}
	return 2
}

func allSame(operands string) bool {
	parts := strings.Split(operands, ",")
	return len(parts) > 1 && len(slices.Compact(parts)) == 1
}
