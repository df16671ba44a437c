package report

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/chart"
)

func TestWrappedCode(t *testing.T) {
	width := 20 * chart.Label{Text: "m", Mono: true, Size: codeSize}.Width()
	got := wrappedCode([]string{"short", "    for (int i = 0; i < n; ++i) x += a[i];", strings.Repeat("w", 45)}, width+1)
	want := []string{
		"short", "    for (int i = 0;", "        i < n; ++i)", "        x += a[i];",
		strings.Repeat("w", 20), "    " + strings.Repeat("w", 16), "    " + strings.Repeat("w", 9),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestAsSentence(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "keep it": "Keep it.", "Keep it.": "Keep it.", "__ldg reads": "__ldg reads.", "float4 loads": "float4 loads.", "why not?": "Why not?", "a": "A.", "\xff": "\xff.",
	} {
		if got := asSentence(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
