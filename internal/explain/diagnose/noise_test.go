package diagnose

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// shaken is a profile with every measured value up to 5 % off, as from one run of a
// profiler to the next. What is set at the launch stays.
func shaken(facts profile.Facts, random *rand.Rand) profile.Facts {
	out := profile.Facts{}
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		x := facts[name]
		switch {
		case strings.HasPrefix(name, "limit_"), slices.Contains([]string{
			"sms", "registers", "shared_bytes", "block_size", "grid_size", "threads", "waves", "launches", "occupancy_max_pct", "bank_conflict_pct",
		}, name):
		default:
			x *= 0.95 + 0.1*random.Float64()
		}
		if strings.HasSuffix(name, "_pct") {
			x = min(x, 100)
		}
		out[name] = x
	}
	return out
}

// The labels must not hang on a hair: with values 5 % off they still hold.
func TestLabelsHoldUnderNoise(t *testing.T) {
	const draws = 100
	rs := Rules()
	random := rand.New(rand.NewPCG(5, 30))
	right, all := 0, 0
	profiles := labelledProfiles(t)
	for _, name := range slices.Sorted(maps.Keys(profiles)) {
		l := profiles[name]
		other := map[string]int{}
		for range draws {
			s := Subject{Facts: shaken(l.Facts, random)}
			if l.Device != "" {
				if err := s.on(l.Device); err != nil {
					t.Fatal(err)
				}
			}
			all++
			if d := rs.Diagnose(s); len(d.Findings) > 0 && d.Findings[0].Rule == l.First {
				right++
			} else if len(d.Findings) > 0 {
				other[d.Findings[0].Rule]++
			}
		}
		if len(other) > 0 {
			t.Logf("%s: %s, and %v", name, l.First, other)
		}
	}
	if said := fmt.Sprintf("| %d of %d;", right, all); !strings.Contains(docsPage(t, "lab/diagnose.md"), said) {
		t.Errorf("docs/lab/diagnose.md does not say %q", said)
	}
	if right*100 < all*98 {
		t.Errorf("the first finding is right in %d of %d shaken profiles, want 98 %%", right, all)
	}
}
