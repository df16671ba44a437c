package cli

import (
	"slices"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/harness/adapter"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// What a suite may name as harness.format is what an adapter reads, and what needs no adapter.
func TestSuiteAndAdaptersKnowTheSameFormats(t *testing.T) {
	want := []string{"pawl", "auto", suite.Python, suite.Process}
	for _, f := range adapter.Formats() {
		want = append(want, f.Name)
	}
	if got := suite.Formats(); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("harness.format may be %v, adapters read %v", got, want)
	}
}
