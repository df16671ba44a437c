package report

import (
	"github.com/goatnote-inc/pawl/internal/diagnose"
)

// Why is what profiles say of a case.
type Why struct {
	Case          string
	Before, After *diagnose.Seen // the base and the candidate; Before is nil where only one was looked at
	Diagnosis     *diagnose.Diagnosis
	Files         []string
}
