// Package tier decides whose code may run on which host. Its rules are pure. It must not know how code is run or where
// settings are kept.
package tier

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/measure"
)

// A Tier says where code comes from, and so what its host must be.
type Tier string

// The tiers, from the most trusted on. An empty tier means Own.
const (
	Own     Tier = "own"     // people who may push to the repository: a plain host
	Checked Tier = "checked" // forks and AI agents: level checked, a host without secrets
	Unknown Tier = "unknown" // anyone: level checked, a host that is thrown away after one lease
)

// Parse returns the tier of a name.
func Parse(name string) (Tier, error) {
	if t := Tier(name); slices.Contains([]Tier{Own, Checked, Unknown}, t) {
		return t, nil
	}
	return "", fmt.Errorf("unknown tier %.20q: want own, checked or unknown", name)
}

// Decide returns the tier of a gate and the level that pawl runs at. project is what an operator set for the project
// whose key sent the code; wish is the level in the request. A wish can make a gate stricter. A wish for more than the
// project has is an error, so that a client cannot think that it was granted.
func Decide(project Tier, wish measure.Trust) (Tier, measure.Trust, error) {
	if cmp.Or(project, Own) == Own {
		if wish == measure.Checked {
			return Checked, wish, nil
		}
		return Own, wish, nil
	}
	if wish != "" && wish != measure.Checked {
		return "", "", fmt.Errorf("gates of this project are of tier %s: they run at level checked, not %s", project, wish)
	}
	if project == Checked {
		return Checked, measure.Checked, nil
	}
	return Unknown, measure.Checked, nil
}

// Serves reports whether a host carries out work of a tier. A host serves one tier only: what ran there could have left
// something behind, which would meet the code and sources of another tier.
func Serves(host, work Tier) bool { return cmp.Or(host, Own) == cmp.Or(work, Own) }
