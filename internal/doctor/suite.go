package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/goatnote-inc/pawl/internal/base/words"
)

// suiteFile reports whether the suite can be read, and what is wrong with it.
func suiteFile(_ context.Context, e *exam) []Finding {
	if errors.Is(e.suiteErr, fs.ErrNotExist) {
		return []Finding{missing("suite", "%s does not exist", e.SuiteFile).withFix("run `pawl init` to write one")}
	}
	if e.suiteErr != nil {
		return []Finding{missing("suite", "%v", e.suiteErr).withFix("correct %s, then run `pawl suite check`", e.SuiteFile)}
	}
	cases := words.Plural(len(e.suite.Cases()), "case")
	if e.suite.NeedsHarness() {
		cases += ", plus those that the harness lists"
	}
	list := []Finding{ok("suite", "%s is valid: %s", e.SuiteFile, cases)}
	for _, w := range e.suite.Warnings {
		list = append(list, warn("suite", "%s", fmt.Sprintf("%s:%d:%d: %s", w.File, w.Line, w.Col, w.Msg)).withFix("%s", w.Hint))
	}
	return list
}
