package words

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Printable ASCII is what it is, but for blanks at its ends, also with a character beside
// it that is none.
func TestPlainOfPrintable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.StringMatching(`[ -~]{0,40}`).Draw(t, "text")
		for text, want := range map[string]string{s: strings.TrimSpace(s), s + "é": strings.TrimLeft(s, " ") + "é"} {
			if got := SanitizeTo(text, 41); got != want {
				t.Fatalf("%q became %q", text, got)
			}
		}
	})
}
