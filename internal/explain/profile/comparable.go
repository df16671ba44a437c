package profile

import (
	"fmt"
	"slices"
	"strings"
)

// Comparable returns an error if the values of two profiles do not mean the same: different tools, releases
// that count differently under the same names, settings that change what is counted, or different GPUs.
// Missing information (a page without the release of its tool) is no reason to refuse.
func Comparable(a, b *Profile) error {
	if a.Tool.Name != b.Tool.Name {
		return fmt.Errorf("the profiles are from %s and %s, which count differently: profile both with the same tool", a.Tool.Name, b.Tool.Name)
	}
	if x, y := major(a.Tool.Version), major(b.Tool.Version); x != "" && y != "" && x != y {
		return fmt.Errorf("the profiles are from %s %s and %s: metrics change their meaning between these releases; profile both with the same one", a.Tool.Name, a.Tool.Version, b.Tool.Version)
	}
	for _, name := range decisive {
		x, known := a.Tool.setting(name)
		if y, ok := b.Tool.setting(name); ok && known && x != y {
			return fmt.Errorf("the profiles were taken with %s %s and %s: profile both with the same setting", name, x, y)
		}
	}
	if x, y := a.chips(), b.chips(); len(x) > 0 && len(y) > 0 && !slices.Equal(x, y) {
		return fmt.Errorf("the profiles are from GPUs with compute capability %s and %s: a difference would come from the GPUs", strings.Join(x, ", "), strings.Join(y, ", "))
	}
	return nil
}

// decisive lists the settings that change what is counted. Others select what is profiled
// (sections, the number of launches) and do not change the values.
var decisive = []string{"clock_control", "cache_control", "clocks", "cache", "replay_mode", "pipeline_boost_state", "I1 cache", "D1 cache", "LL cache"}

func (t Tool) setting(name string) (string, bool) {
	for _, s := range t.Settings {
		if s.Name == name {
			return s.Value, true
		}
	}
	return "", false
}

// major returns the first part of a version: 2024 of 2024.1.1.0.
func major(version string) string {
	first, _, _ := strings.Cut(version, ".")
	return first
}

// chips returns the compute capabilities of a profile's launches.
func (p *Profile) chips() []string {
	var list []string
	for _, l := range p.Launches {
		if l.CC != "" && !slices.Contains(list, l.CC) {
			list = append(list, l.CC)
		}
	}
	slices.Sort(list)
	return list
}
