package page_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/page"
	"github.com/goatnote-inc/pawl/internal/report"
)

func l4(t testing.TB) *page.Device {
	t.Helper()
	cards := gpu.FindCards("L4")
	arch, err := gpu.FindArch("sm_89")
	if len(cards) == 0 || err != nil {
		t.Fatal(cards, err)
	}
	return page.NewDevice("L4", &cards[0], arch)
}

func TestGuideGolden(t *testing.T) {
	guide := page.Guide{State: stopped(t), Device: l4(t)}
	for name, style := range map[string]report.Style{
		"guide-80.txt": {Width: 80}, "guide-120.txt": {Width: 120}, "guide-color.txt": {Width: 100, Color: true},
	} {
		golden(t, name, []byte(text(t, func(b *strings.Builder) error { return guide.Terminal(b, style) })))
	}
	golden(t, "guide.md", []byte(text(t, func(b *strings.Builder) error { return guide.Markdown(b) })))
	plain := page.Guide{State: noSession()}
	golden(t, "guide-none.txt", []byte(text(t, func(b *strings.Builder) error { return plain.Terminal(b, report.Style{}) })))
}

var escape = regexp.MustCompile("\x1b\\[[0-9;]*m")

// With all gates that there are, no line is wider than the screen, and the guide is not
// longer than two of them.
func TestGuideFitsAScreenOrTwo(t *testing.T) {
	session := madeSession(t, "stopped.jsonl")
	set := gates.All()
	all := set.Look(gates.Learn(session), session.Entries)
	for _, state := range []page.State{
		{Set: set},
		{Set: set, Session: session, Status: all, Next: gates.Next(all), Now: session.Began},
	} {
		for width, most := range map[int]int{80: 100, 120: 68} {
			out := text(t, func(b *strings.Builder) error {
				return page.Guide{State: state, Device: l4(t)}.Terminal(b, report.Style{Width: width, Color: true})
			})
			lines := strings.Split(escape.ReplaceAllString(out, ""), "\n")
			if len(lines) > most {
				t.Errorf("%d lines at %d columns, %d are two screens:\n%s", len(lines), width, most, out)
			}
			for _, l := range lines {
				if n := utf8.RuneCountInString(l); n > width && !strings.Contains(l, "$ ") { // a command stays whole
					t.Errorf("%d columns in %d: %q", n, width, l)
				}
			}
		}
	}
}

// A rule without its gate would be a wish.
func TestRulesHaveGates(t *testing.T) {
	known := map[string]bool{}
	for _, p := range gates.All().Phases {
		for _, g := range p.Gates {
			known[g.ID] = true
		}
	}
	for _, r := range page.Rules() {
		if !known[r.Gate] {
			t.Errorf("rule %q: there is no gate %q", r.Text, r.Gate)
		}
	}
}
