package adapter

import (
	"os"
	"strings"
	"testing"
)

// TestDocs keeps the reference page complete: every format, every warning code,
// and every JSON line it shows is one that is read.
func TestDocs(t *testing.T) {
	raw, err := os.ReadFile("../../../../docs/reference/import-formats.md")
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	for _, f := range Formats() {
		if !strings.Contains(page, "\n## "+f.Name+"\n") || !strings.Contains(page, "| [`"+f.Name+"`]") {
			t.Errorf("format %s has no section, or no row in the table", f.Name)
		}
	}
	for _, code := range []string{warnSkipped, warnSummary, warnSidecar, warnIgnored, warnDuplicate, warnMixed, warnDebug, warnScaling} {
		if !strings.Contains(page, "`"+code+"`") {
			t.Errorf("warning %s is not explained", code)
		}
	}
	lines := 0
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "{") {
			lines++
			if run := mustRead(t, "", line); run.Format != "triton" && run.Format != "samples" || len(run.Warnings) > 0 {
				t.Errorf("%s is read as %s with warnings %v", line, run.Format, run.Warnings)
			}
		}
	}
	if lines == 0 {
		t.Error("the page shows no record")
	}
}
