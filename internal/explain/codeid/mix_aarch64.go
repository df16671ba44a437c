package codeid

import (
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/measure"
)

var (
	armMemory = lazyregexp.New(`^(ld|st)(u?r|n?p|1|2|3|4|xr|ar|lr)[bhsw]*$|^(ld|st)[1-4]r$`)
	armBranch = lazyregexp.New(`^(b|br|ret|cbn?z|tbn?z|b\.\w+)$`)
	armVector = lazyregexp.New(`\bv\d+\.\d*(b|h|s|d)`)
	armFloat  = lazyregexp.New(`^[bhsdq]\d+\b`)
	armFused  = lazyregexp.New(`^fn?(madd|msub)$|^fml[as]$`)
)

// classifyARM classifies an instruction of 64-bit ARM, in which the destination comes first.
func classifyARM(name, operands string) (class string, bytes int, loops bool) {
	vector := armVector.MatchString(operands)
	switch {
	case name == "bl", name == "blr":
		return measure.OpCall, 0, false
	case armBranch.MatchString(name):
		return measure.OpBranch, 0, name != "b" && name != "br" && name != "ret"
	case armMemory.MatchString(name):
		class = measure.OpStore
		if strings.HasPrefix(name, "ld") {
			class = measure.OpLoad
		}
		return class, armMoved(name, operands), false
	case strings.Contains(name, "div") || strings.HasSuffix(name, "sqrt"):
		return measure.OpDivide, armWidth(operands, vector), false
	case armFused.MatchString(name):
		return measure.OpFMA, armWidth(operands, vector), false
	case strings.Contains(name, "cvt"):
		return measure.OpConversion, 0, false
	case vector && !strings.HasPrefix(name, "mov"):
		return measure.OpVector, 16, false
	case strings.HasPrefix(name, "f") && armFloat.MatchString(operands) && name != "fmov":
		return measure.OpScalarFloat, armWidth(operands, false), false
	case name == "nop":
		return measure.OpOther, 0, false
	}
	return measure.OpInteger, 0, false
}

// armMoved returns how many bytes a load or store moves, from its suffix or its register. A pair
// counts twice.
func armMoved(name, operands string) int {
	bytes := armWidth(strings.TrimLeft(operands, "{"), armVector.MatchString(operands))
	switch {
	case strings.HasSuffix(name, "b"):
		bytes = 1
	case strings.HasSuffix(name, "h"):
		bytes = 2
	case strings.HasSuffix(name, "sw"):
		bytes = 4
	}
	if strings.HasSuffix(name, "p") {
		bytes *= 2
	}
	return bytes
}

// armWidth returns the width of the first register in bytes.
func armWidth(operands string, vector bool) int {
	if vector {
		return 16
	}
	if operands == "" {
		return 0
	}
	return map[byte]int{'b': 1, 'h': 2, 's': 4, 'w': 4, 'd': 8, 'x': 8, 'q': 16}[operands[0]]
}
