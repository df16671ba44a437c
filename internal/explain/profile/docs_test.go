package profile_test

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

const profilePage = "../../../docs/reference/profile.md"

// The page lists every quantity, as the code has it.
func TestPageListsTheQuantities(t *testing.T) {
	page, err := os.ReadFile(profilePage)
	must(t, err)
	const mark = "Change its sources, not the page.*\n\n"
	head, have, ok := strings.Cut(string(page), mark)
	if !ok {
		t.Fatalf("%s does not say %q", profilePage, mark)
	}
	var b strings.Builder
	b.WriteString("| quantity | unit | what it is |\n| --- | --- | --- |\n")
	for _, q := range profile.Quantities() {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", q.Name, q.Unit, q.About)
	}
	if *update {
		must(t, os.WriteFile(profilePage, []byte(head+mark+b.String()), 0o644))
		return
	}
	if diff := cmp.Diff(b.String(), have); diff != "" {
		t.Errorf("%s is not what the code says; go test ./internal/explain/profile -update writes it:\n%s", profilePage, diff)
	}
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
