package tier

import (
	"testing"

	"github.com/goatnote-inc/pawl/measure"
)

func TestDecide_AWishOnlyMakesItStricter(t *testing.T) {
	for _, c := range []struct {
		project Tier
		wish    measure.Trust
		tier    Tier
		level   measure.Trust
		refused bool
	}{
		{project: "", wish: "", tier: Own},
		{project: Own, wish: "", tier: Own},
		{project: Own, wish: measure.Trusted, tier: Own, level: measure.Trusted},
		{project: Own, wish: measure.SelfTimed, tier: Own, level: measure.SelfTimed},
		{project: Own, wish: measure.Checked, tier: Checked, level: measure.Checked},
		{project: Checked, wish: "", tier: Checked, level: measure.Checked},
		{project: Checked, wish: measure.Checked, tier: Checked, level: measure.Checked},
		{project: Checked, wish: measure.Trusted, refused: true},
		{project: Checked, wish: measure.SelfTimed, refused: true},
		{project: Unknown, wish: "", tier: Unknown, level: measure.Checked},
		{project: Unknown, wish: measure.Checked, tier: Unknown, level: measure.Checked},
		{project: Unknown, wish: measure.Trusted, refused: true},
		{project: Unknown, wish: measure.SelfTimed, refused: true},
		{project: "of a later version", wish: "", tier: Unknown, level: measure.Checked},
		{project: "of a later version", wish: measure.Trusted, refused: true},
	} {
		got, level, err := Decide(c.project, c.wish)
		if got != c.tier || level != c.level || (err != nil) != c.refused {
			t.Errorf("Decide(%q, %q) = %q, %q, %v; want %q, %q, refused: %v", c.project, c.wish, got, level, err, c.tier, c.level, c.refused)
		}
	}
}

func TestServes_OneTierOnly(t *testing.T) {
	all := []Tier{Own, Checked, Unknown}
	for _, host := range all {
		for _, work := range all {
			if got, want := Serves(host, work), host == work; got != want {
				t.Errorf("Serves(%s, %s) = %v, want %v", host, work, got, want)
			}
		}
		if got, want := Serves("", host), host == Own; got != want {
			t.Errorf("a host without a tier serves %s: %v, want %v", host, got, want)
		}
	}
}

func TestParse_KnowsThreeNames(t *testing.T) {
	for _, name := range []string{"own", "checked", "unknown"} {
		if got, err := Parse(name); err != nil || string(got) != name {
			t.Errorf("Parse(%q) = %q, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "trusted", "Own"} {
		if _, err := Parse(name); err == nil {
			t.Errorf("Parse(%q) succeeds", name)
		}
	}
}
