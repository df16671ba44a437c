package profile_test

import (
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

func TestComparable(t *testing.T) {
	with := func(change func(*profile.Profile)) *profile.Profile {
		p := example()
		change(p)
		return p
	}
	for _, c := range []struct {
		name   string
		change func(*profile.Profile)
		want   string // part of the reason; empty for none
	}{
		{"the same", func(*profile.Profile) {}, ""},
		{"another tool", func(p *profile.Profile) { p.Tool.Name = "nsys" }, "from ncu and nsys"},
		{"a minor release", func(p *profile.Profile) { p.Tool.Version = "2024.3.0.0" }, ""},
		{"a major release", func(p *profile.Profile) { p.Tool.Version = "2025.3.1.0" }, "2024.1.1.0 and 2025.3.1.0"},
		{"an unknown release", func(p *profile.Profile) { p.Tool.Version = "" }, ""},
		{"other clocks", func(p *profile.Profile) { p.Tool.Settings[0].Value = "none" }, "clock_control base and none"},
		{"unknown clocks", func(p *profile.Profile) { p.Tool.Settings = nil }, ""},
		{"more sections", func(p *profile.Profile) {
			p.Tool.Settings = append(p.Tool.Settings, profile.Setting{Name: "set", Value: "full"})
		}, ""},
		{"another page", func(p *profile.Profile) { p.Tool.Page = "text" }, ""},
		{"another GPU", func(p *profile.Profile) { p.Launches[0].CC = "9.0" }, "8.9 and 9.0"},
		{"an unknown GPU", func(p *profile.Profile) { p.Launches[0].CC = "" }, ""},
		{"another kernel", func(p *profile.Profile) { p.Launches[0].Kernel = "other" }, ""},
	} {
		changed := with(c.change)
		if err := profile.Comparable(changed, changed); err != nil {
			t.Errorf("%s, with itself: %v", c.name, err)
		}
		err := profile.Comparable(example(), changed)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
		if back := profile.Comparable(changed, example()); (back == nil) != (err == nil) {
			t.Errorf("%s: %v one way, %v the other", c.name, err, back)
		}
	}
}
