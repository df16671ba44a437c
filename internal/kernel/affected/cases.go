package affected

import (
	"slices"

	"github.com/goatnote-inc/pawl/measure"
)

// Builds is what is known of the two builds of a suite before anything is measured.
type Builds struct {
	Checked   bool           // pawl's own launcher runs the kernels, so no host code of the change does
	Redefined bool           // the suite, or a file that defines the measurement, differs
	Rebuilt   bool           // the recipes differ: other flags can lay out the same code differently
	Base      []measure.Tool // that built it
	Candidate []measure.Tool
}

// Kernel is what a side runs in a case.
type Kernel struct {
	Launch  string // how it is launched, with its arguments, independent of the side's folder
	Code    string // identifies everything that it can execute and read; empty if that is not known
	Unknown string // why it is not known
}

// Reason returns why a case must be measured; empty if it cannot have changed. It names a reason if in doubt: an extra
// measurement costs seconds, a missing one lets a regression through.
func (b Builds) Reason(base, candidate Kernel) string {
	switch {
	case !b.Checked:
		return "host code of the change runs"
	case b.Redefined:
		return "the definition of the measurement differs"
	case b.Rebuilt:
		return "the builds have different recipes"
	case !slices.Equal(b.Base, b.Candidate):
		return "the builds have different tools"
	case base.Code == "" && base.Unknown != "":
		return base.Unknown
	case candidate.Code == "" && candidate.Unknown != "":
		return candidate.Unknown
	case base.Code == "" || candidate.Code == "":
		return "it is not known what the kernel executes and reads"
	case base.Launch == "" || base.Launch != candidate.Launch:
		return "the kernel is launched differently"
	case base.Code != candidate.Code:
		return "something that the kernel executes or reads differs"
	default:
		return ""
	}
}
