package profile_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

const profilePage = "../../../docs/reference/profile.md"

// The page lists every quantity, as the code has it.
func TestPageListsTheQuantities(t *testing.T) {
	page, err := os.ReadFile(profilePage)
	must(t, err)
	const mark = "Change its sources, not the page.*\n\n"
	head, _, ok := strings.Cut(string(page), mark)
	if !ok {
		t.Fatalf("%s does not say %q", profilePage, mark)
	}
	var b strings.Builder
	b.WriteString("| quantity | unit | what it is |\n| --- | --- | --- |\n")
	for _, q := range profile.Quantities() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", q.Name, q.Unit, q.About)
	}
	golden.File(t, profilePage, head+mark+b.String())
}

// Names are what rules can write, units are few, and every quantity says what it is.
func TestQuantitiesAreWellNamed(t *testing.T) {
	name := regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	units := map[string]bool{"": true, "%": true, "ns": true, "byte": true, "byte/s": true, "hz": true}
	seen := map[string]bool{}
	for _, q := range profile.Quantities() {
		if !name.MatchString(q.Name) || seen[q.Name] {
			t.Errorf("%q is no name, or there twice", q.Name)
		}
		seen[q.Name] = true
		if !units[q.Unit] || q.About == "" {
			t.Errorf("%s: unit %q, about %q", q.Name, q.Unit, q.About)
		}
		if strings.HasSuffix(q.Name, "_pct") != (q.Unit == "%") || strings.HasSuffix(q.Name, "_ns") != (q.Unit == "ns") ||
			strings.HasSuffix(q.Name, "_hz") != (q.Unit == "hz") || strings.HasSuffix(q.Name, "_bytes_per_s") != (q.Unit == "byte/s") {
			t.Errorf("%s has the unit %q", q.Name, q.Unit)
		}
	}
}
