package lab

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// powerCard has the constants of a card of the virtual GPU that its clocks follow.
type powerCard struct {
	name                string
	boostMHz            float64
	idleW, capW, fullW  float64 // fullW is drawn at boost
	followMS            float64 // how fast clocks follow the draw
	degreesPerW, heatS  float64
	hotC, wander, steps float64 // steps of event times, ns
}

// The cards of sdk/virtualgpu/model.c.
var (
	cardL4     = powerCard{"L4", 2040, 16, 72, 157, 300, 0.6, 40, 85, 0, 1024}
	cardB200   = powerCard{"B200", 1965, 140, 1000, 1790, 5, 0.045, 30, 90, 0, 500}
	cardLaptop = powerCard{"laptop", 2280, 10, 90, 190, 100, 0.6, 20, 80, 0.06, 1024}
)

// powerState is a card at a moment: the clock model of the virtual GPU, in Go, because a
// process for each of some million rounds would take days.
type powerState struct {
	powerCard
	seed                   uint64
	at                     float64 // ns
	mhz, activity, celsius float64
	locked                 float64 // MHz; 0 if clocks are free
}

const ambientC = 35

func newPowerState(c powerCard, seed uint64, locked float64) *powerState {
	s := &powerState{powerCard: c, seed: seed, mhz: c.boostMHz, celsius: ambientC + float64(seed*2654435761>>8&15), locked: locked}
	if locked > 0 {
		s.mhz = locked
	}
	return s
}

// wanderNow returns a number in [-1, 1) that is fixed for every 50 ms of a seed.
func (s *powerState) wanderNow() float64 {
	z := s.seed + uint64(s.at/50e6)*0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return float64(int64(z^z>>31)) / (1 << 63)
}

// wanted returns the clock at which the card would settle.
func (s *powerState) wanted() float64 {
	most := s.locked
	if most == 0 {
		most = s.boostMHz
		if s.wander > 0 {
			most *= 1 + s.wander*s.wanderNow()
		}
	}
	room := (s.capW - s.idleW) / ((s.fullW - s.idleW) * max(s.activity, 1e-3))
	if room < 1 {
		most = min(most, s.boostMHz*math.Cbrt(room))
	}
	if s.celsius > s.hotC {
		most *= max(0.5, 1-0.05*(s.celsius-s.hotC))
	}
	return most
}

// advance lets time pass. activity is the share of the card's units that switch.
func (s *powerState) advance(ns, activity float64) {
	follow := s.followMS * 1e6
	for ns > 0 {
		slice := min(ns, follow/8)
		share := -math.Expm1(-slice / follow)
		s.activity += (activity - s.activity) * share
		speed := s.mhz / s.boostMHz
		watts := s.idleW + (s.fullW-s.idleW)*s.activity*speed*speed*speed
		s.celsius += (ambientC + s.degreesPerW*watts - s.celsius) * -math.Expm1(-slice/(s.heatS*1e9))
		s.mhz += (s.wanted() - s.mhz) * share
		s.at += slice
		ns -= slice
	}
}

// compute runs so many cycles and returns the time that they take.
func (s *powerState) compute(cycles, activity float64) float64 {
	began := s.at
	for cycles > 1e-6 {
		slice := min(cycles*1e3/s.mhz, s.followMS*1e6/8)
		cycles -= s.mhz * slice / 1e3
		s.advance(slice, activity)
	}
	return s.at - began
}

// The port and the model in C settle at the same clocks, at the same time.
func TestClocks_AreThoseOfTheVirtualGPU(t *testing.T) {
	cc, err := exec.LookPath("gcc")
	if err != nil {
		t.Fatal(err)
	}
	model, err := filepath.Abs("../../../sdk/virtualgpu")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "clocks.c")
	const program = `#include <stdio.h>
#include "model.h"
static void busy(void *with) { (void)with; vgpu_cycles(20e6); }
static void slow(void *with) { (void)with; vgpu_ns(20e6); } /* memory: 0.6 of the units switch */
int main(void) {
  int i;
  vgpu_use(0);
  for (i = 0; i < 400; i++) {
    vgpu_launch("k", i % 100 < 70 ? busy : slow, NULL, NULL);
    vgpu_wait();
    printf("%.3f\n", vgpu_mhz());
  }
  return 0;
}
`
	if err := os.WriteFile(source, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	binary := filepath.Join(dir, "clocks")
	if out, err := exec.CommandContext(t.Context(), cc, "-std=gnu11", "-O2", "-I"+model, "-o", binary, source, filepath.Join(model, "model.c"), "-lm").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, card := range []powerCard{cardL4, cardB200} {
		cmd := exec.CommandContext(t.Context(), binary)
		cmd.Env = append(os.Environ(), "VGPU_CARD="+card.name, "VGPU_SEED=1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatal(err)
		}
		s := newPowerState(card, 1, 0)
		lowest := card.boostMHz
		for i, line := range strings.Fields(string(out)) {
			s.advance(8e3, 0) // what a launch and waiting for it cost the host
			if i%100 < 70 {
				s.compute(20e6, 1)
			} else {
				s.advance(20e6, 0.6)
			}
			var mhz float64
			if _, err := fmt.Sscan(line, &mhz); err != nil {
				t.Fatal(err)
			}
			lowest = min(lowest, mhz)
			if math.Abs(s.mhz/mhz-1) > 0.005 {
				t.Fatalf("%s: after %d kernels %.1f MHz, the model in C has %.1f", card.name, i+1, s.mhz, mhz)
			}
		}
		if lowest > 0.85*card.boostMHz {
			t.Errorf("%s: clocks fell only to %.0f MHz", card.name, lowest)
		}
	}
}

// The constants stand in the model's own table.
func TestClocks_CardsAreThoseOfTheVirtualGPU(t *testing.T) {
	text, err := os.ReadFile("../../../sdk/virtualgpu/model.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []powerCard{cardL4, cardB200, cardLaptop} {
		want := fmt.Sprintf("%v, %v, %v, %v, %v, %v, %v, %v, %v, %v, ", c.boostMHz, c.idleW, c.capW, c.fullW, c.followMS, c.degreesPerW, c.heatS, c.hotC, c.wander, c.steps)
		at := strings.Index(string(text), `{"`+c.name+`", `)
		if at < 0 || !strings.Contains(strings.SplitN(string(text[at:]), "\n", 2)[0], want) {
			t.Errorf("model.c has no %s with %s", c.name, want)
		}
	}
}

// A run as the recordings were made: 20 launches of warm-up, then 100 samples, on a card
// that was idle before. Its samples resemble each other as those of a real L4 do.
func TestClocks_ResembleTheRecordings(t *testing.T) {
	r, err := ReadRecordings(t.Context(), recordedData(t))
	if err != nil {
		t.Fatal(err)
	}
	fit := r.Fit()
	rng := rand.New(rand.NewPCG(1, 2))
	machine := noisyL4
	var model Recordings
	for range 40 {
		g := &clockGate{clockMachine: machine, rng: rng, state: newPowerState(machine.card, rng.Uint64(), 0)}
		g.state.advance(1e9, 0)
		model = append(model, g.recordings(3))
	}
	got := model.Fit()
	t.Logf("recorded: lag-1 %.2f, spread %.3f, between sessions %.3f; model: %.2f, %.3f, %.3f", fit.Lag1, fit.Spread, fit.Session, got.Lag1, got.Spread, got.Session)
	if math.Abs(got.Lag1-fit.Lag1) > 0.1 || math.Abs(got.Spread/fit.Spread-1) > 0.3 || math.Abs(got.Session/fit.Session-1) > 0.5 {
		t.Errorf("the model's samples do not resemble those of the card")
	}
}
