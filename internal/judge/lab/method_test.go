package lab

import (
	"testing"

	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// run is a recording with samples around a value, spread evenly by a share of it.
func run(around, spread float64) ratchet.Round {
	r := measure.CaseRound{}
	for i := range 100 {
		r.Samples = append(r.Samples, around*(1+spread*(float64(i)-49.5)/50))
	}
	return ratchet.NewRound(r, "")
}

func TestWhatMethodsSay(t *testing.T) {
	for _, test := range []struct {
		name      string
		base, now ratchet.Round
		want      map[string]Answer
	}{
		{"the same", run(100, 0.02), run(100, 0.02), map[string]Answer{
			"pawl": Abstains, "pawl, stored": Abstains, "classic": Abstains, "Mann-Whitney": Nothing, "benchstat": Nothing,
			"github-action-benchmark": Nothing, "NVBench, legacy": Nothing, "NVBench, robust": Nothing, "3 % threshold": Nothing,
		}},
		{"1 % slower", run(100, 0.02), run(101, 0.02), map[string]Answer{
			"pawl": Abstains, "classic": Nothing, "Mann-Whitney": Slower, "benchstat": Nothing,
			"github-action-benchmark": Nothing, "NVBench, legacy": Nothing, "NVBench, robust": Abstains, "3 % threshold": Nothing,
		}},
		{"6 % slower", run(100, 0.02), run(106, 0.02), map[string]Answer{
			"pawl": Abstains, "classic": Slower, "Mann-Whitney": Slower, "benchstat": Nothing, // one number each
			"github-action-benchmark": Nothing, "NVBench, legacy": Slower, "NVBench, robust": Slower, "3 % threshold": Slower,
		}},
		{"12 % faster", run(112, 0.02), run(100, 0.02), map[string]Answer{
			"pawl": Abstains, "classic": Faster, "Mann-Whitney": Faster, "github-action-benchmark": Nothing,
			"NVBench, legacy": Faster, "NVBench, robust": Faster, "3 % threshold": Faster,
		}},
		{"slower within a wide spread", run(100, 0.3), run(106, 0.3), map[string]Answer{
			"classic": Abstains, "Mann-Whitney": Slower, "NVBench, legacy": Nothing, "NVBench, robust": Abstains, "3 % threshold": Slower,
		}},
		{"twice as long", run(100, 0.02), run(201, 0.02), map[string]Answer{
			"pawl": Abstains, "github-action-benchmark": Slower, // one round is never enough
		}},
	} {
		for _, m := range Methods(ratchet.Default()) {
			want, asked := test.want[m.Name]
			if !asked {
				continue
			}
			if got := m.Ask(recorded{{test.base}, {test.now}}); got.Answer != want {
				t.Errorf("%s: %s says %s, want %s", test.name, m.Name, got.Answer, want)
			}
		}
	}
}

// Every method finds what cannot be missed, and uses as many rounds as it says.
func TestMethodsOnQuietRounds(t *testing.T) {
	rounds := map[string]int{"pawl": 8, "benchstat": 10, "pawl, stored": 16, "pawl, stored with reference": 16, "3 % threshold, 10 rounds": 10}
	for _, m := range Methods(ratchet.Default()) {
		quiet := NewScene(Gaussian, 0.001, 1.5)
		quiet.Session, quiet.Machine, quiet.Noise = 0.001, 0.001, correlatedNoise{Spread: 0.01}
		got := m.Ask(quiet.Compare(1, 1))
		if got.Answer != Slower || got.Rounds > max(rounds[m.Name], 1) || got.Rounds < 1 {
			t.Errorf("%s says %s after %d rounds of a kernel that takes 2.5 times as long", m.Name, got.Answer, got.Rounds)
		}
	}
}
