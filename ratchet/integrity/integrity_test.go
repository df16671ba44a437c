package integrity_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet/integrity"
)

// reading is a clock outside that sees a run take so long, and asking so long.
func reading(rng *rand.Rand, run, asking, noise float64) *measure.OutsideTiming {
	o := &measure.OutsideTiming{Clock: measure.TimerWall}
	for _, k := range []int{3, 11, 7, 16, 5, 13} {
		o.Runs = append(o.Runs, k)
		o.Times = append(o.Times, (asking+run*float64(k))*(1+noise*rng.NormFloat64()))
	}
	return o
}

// rounds are n of them whose samples say one thing, and the clock outside another. The
// machine has two speeds, and changes between them every few readings.
func rounds(n int, says, takes, noise float64) []measure.CaseRound {
	rng := rand.New(rand.NewPCG(uint64(n), math.Float64bits(says+takes)))
	list := make([]measure.CaseRound, n)
	for i := range list {
		o := reading(rng, takes, 1e5, noise)
		for j := range o.Times {
			speed := 1.0
			if rng.IntN(4) == 0 {
				speed = 1.6
			}
			o.Times[j] *= speed
			o.Adjacent = append(o.Adjacent, speed*says*(1+noise*rng.NormFloat64()))
		}
		list[i] = measure.CaseRound{Round: i, Outside: o, Samples: measure.Samples{says}}
	}
	return list
}

func TestClocks(t *testing.T) {
	for _, test := range []struct {
		name       string
		side, base []measure.CaseRound
		disagree   bool
	}{
		{"they agree", rounds(4, 1e6, 1e6, 0.02), nil, false},
		{"samples say half", rounds(4, 1e6, 2e6, 0.02), nil, true},
		{"samples say half on a noisy machine", rounds(16, 1e6, 2e6, 0.2), nil, true},
		{"samples say 15 % less", rounds(8, 1e6, 1.15e6, 0.02), nil, true},
		{"8 % within noise", rounds(4, 1e6, 1.08e6, 0.2), nil, false},
		{"samples say more", rounds(4, 2e6, 1e6, 0.02), nil, false},
		{"the base does as well", rounds(4, 1e6, 1.3e6, 0.02), rounds(4, 1e6, 1.3e6, 0.02), false},
		{"the base does less", rounds(4, 1e6, 1.8e6, 0.02), rounds(4, 1e6, 1.3e6, 0.02), true},
		{"a base that lies the other way", rounds(4, 1e6, 1.3e6, 0.02), rounds(4, 1e6, 0.8e6, 0.02), true},
		{"less than an event costs", rounds(4, 3000, 4800, 0.01), nil, false},
		{"too few readings", rounds(1, 1e6, 2e6, 0.02), nil, false},
		{"no clock", []measure.CaseRound{{Samples: measure.Samples{1}}}, nil, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			why := integrity.CheckSampleClock(test.side, test.base)
			if (why != "") != test.disagree {
				t.Errorf("%q", why)
			}
			if test.disagree && !strings.Contains(why, "clocks disagree") {
				t.Errorf("the reason has to say so: %q", why)
			}
		})
	}
}

// Honest readings, whatever the noise of the machine, are not called a lie: of
// 5,000 at most 1. Without that nobody would leave the check on.
func TestHonestClocksAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	wrong := 0
	for range 5000 {
		run := math.Exp(math.Log(1e5) + rng.Float64()*math.Log(1e3))
		if integrity.CheckSampleClock(rounds(4+rng.IntN(13), run, run*1.001, 0.15*rng.Float64()), nil) != "" {
			wrong++
		}
	}
	if wrong > 1 {
		t.Errorf("%d of 5000 honest sides are called liars", wrong)
	}
}

func TestStraight(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	fit := func(o *measure.OutsideTiming) string {
		l, ok := integrity.Fit(o)
		if !ok {
			t.Fatal("no line")
		}
		return l.Problem()
	}
	if why := fit(reading(rng, 1e6, 1e5, 0.03)); why != "" {
		t.Errorf("honest: %s", why)
	}
	if why := fit(reading(rng, 0, 5e6, 0)); !strings.Contains(why, "not executed") {
		t.Errorf("no work: %q", why)
	}
	sleeper := reading(rng, 1e6, 0, 0) // makes every answer as late as the largest batch's
	for i := range sleeper.Times {
		sleeper.Times[i] = 16e6 + float64(sleeper.Runs[i])
	}
	if why := fit(sleeper); !strings.Contains(why, "outside the runs") {
		t.Errorf("sleeps at few runs: %q", why)
	}
	if _, ok := integrity.Fit(&measure.OutsideTiming{Runs: []int{1, 2, 3, 3}, Times: measure.Samples{1, 2, 3, 3}}); ok {
		t.Error("three sizes are no line")
	}
	if _, ok := integrity.Fit(&measure.OutsideTiming{Runs: []int{1, 2}, Times: measure.Samples{1}}); ok {
		t.Error("readings without a size are no line")
	}
}

// Whatever is fed to it, a line comes out or not, and nothing is NaN.
func TestFitTakesAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 12).Draw(t, "n")
		o := &measure.OutsideTiming{}
		for range n {
			o.Runs = append(o.Runs, rapid.IntRange(0, 100).Draw(t, "runs"))
			o.Times = append(o.Times, rapid.Float64Range(0, 1e12).Draw(t, "ns"))
		}
		if l, ok := integrity.Fit(o); ok && math.IsNaN(l.Run) {
			t.Fatalf("%+v of %+v", l, o)
		}
	})
}

func TestImplausible(t *testing.T) {
	l4 := gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA L4", ComputeCapability: "8.9"}
	cpu := gpu.Identity{Kind: gpu.CPU, Name: "a CPU", Units: 2}
	fast := func(name string, mhz int) gpu.Identity {
		return gpu.Identity{Kind: gpu.NVIDIA, Name: name, MaxClockMHz: mhz}
	}
	on := func(card string) gpu.Identity { return fast("NVIDIA "+card, 0) }
	at := func(ns float64) []measure.CaseRound { return []measure.CaseRound{{Samples: measure.Samples{ns}}} }
	for _, test := range []struct {
		name   string
		device gpu.Identity
		c      measure.Case
		want   bool
	}{
		{"bytes that take 1 ms, cold", l4, measure.Case{CaseKey: measure.CaseKey{Cache: measure.Cold}, Unit: "ns", Bytes: 600e6, Rounds: at(0.5e6)}, true},
		{"and in time", l4, measure.Case{CaseKey: measure.CaseKey{Cache: measure.Cold}, Unit: "ns", Bytes: 600e6, Rounds: at(2.2e6)}, false},
		{"hot, they may be in the cache", l4, measure.Case{Unit: "ns", Bytes: 600e6, Rounds: at(0.5e6)}, false},
		{"more flops than there are", l4, measure.Case{Unit: "ns", Flops: 1e12, Rounds: at(1e5)}, true},
		{"no format of an A100 is that fast", on("A100-SXM4-80GB"), measure.Case{Unit: "ns", Flops: 1e15, Rounds: at(1)}, true},
		{"nor of a B200", on("B200"), measure.Case{Unit: "ns", Flops: 1e15, Rounds: at(1)}, true},
		{"nor of an RTX 5090", on("GeForce RTX 5090"), measure.Case{Unit: "ns", Flops: 1e15, Rounds: at(1)}, true},
		{"nor of an A10G", on("A10G"), measure.Case{Unit: "ns", Flops: 1e15, Rounds: at(1)}, true},
		{"a card of which not every format is known", on("RTX A4000"), measure.Case{Unit: "ns", Flops: 1e15, Rounds: at(1)}, false},
		{"a card of AMD", gpu.Identity{Kind: gpu.AMD, Name: "AMD Instinct MI300X"}, measure.Case{Unit: "ns", Flops: 1e15, Rounds: at(1)}, true},
		{"FP4 on a B200 may be", on("B200"), measure.Case{Unit: "ns", Flops: 8e12, Rounds: at(1e6)}, false},
		{"a card that runs above its boost clock", fast("NVIDIA GeForce RTX 4090", 3105), measure.Case{Unit: "ns", Flops: 0.8e12, Rounds: at(1e6)}, false},
		{"and one that does not", fast("NVIDIA GeForce RTX 4090", 2520), measure.Case{Unit: "ns", Flops: 0.8e12, Rounds: at(1e6)}, true},
		{"no declared work", l4, measure.Case{Unit: "ns", Rounds: at(1)}, false},
		{"an unknown card", gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA X9"}, measure.Case{Unit: "ns", Flops: 1e15, Rounds: at(1)}, false},
		{"a CPU that would do 10 PFLOP/s", cpu, measure.Case{Unit: "ns", Flops: 1e9, Rounds: at(100)}, true},
		{"a CPU that does 100 GFLOP/s", cpu, measure.Case{Unit: "ns", Flops: 1e9, Rounds: at(1e7)}, false},
		{"a round that failed", cpu, measure.Case{Unit: "ns", Flops: 1e9, Rounds: []measure.CaseRound{{Error: "x", Samples: measure.Samples{1}}}}, false},
	} {
		if why := integrity.Implausible(test.device, test.c); (why != "") != test.want {
			t.Errorf("%s: %q", test.name, why)
		}
	}
}

// A busy machine makes answers late, never early: that is no lie. One that is always
// late when few runs are asked for is.
func TestAskedOnABusyMachine(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	read := func(sleeps bool) []measure.CaseRound {
		list := make([]measure.CaseRound, 4)
		for i := range list {
			o := &measure.OutsideTiming{}
			for range 32 {
				k := 1 + rng.IntN(12)
				took := 2e5 + 3e5*float64(k)
				if rng.IntN(2) == 0 { // somebody else had the processor
					took += 8e6 * rng.Float64()
				}
				if sleeps {
					took = max(took, 3e6+5e4*float64(k)+2e6)
				}
				o.Runs, o.Times = append(o.Runs, k), append(o.Times, took)
			}
			list[i].Outside = o
		}
		return list
	}
	for range 200 {
		if why := integrity.CheckOutsideClock(read(false)); why != "" {
			t.Fatalf("honest: %s", why)
		}
		if why := integrity.CheckOutsideClock(read(true)); !strings.Contains(why, "outside the runs") {
			t.Fatalf("sleeps: %q", why)
		}
	}
}

// Where other programs take cores away for a round at a time, readings are long in some rounds of each side. That is
// no lie either.
func TestHonestClocksOnACrowdedMachine(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	crowded := func(n int) []measure.CaseRound {
		list := rounds(n, 1e6, 1e6, 0.02)
		for _, r := range list {
			share := 1 + 0.8*rng.Float64()
			for j := range r.Outside.Times {
				r.Outside.Times[j] *= share
			}
		}
		return list
	}
	wrong := 0
	for range 2000 {
		n := 4 + rng.IntN(13)
		if integrity.CheckSampleClock(crowded(n), crowded(n)) != "" {
			wrong++
		}
	}
	if wrong > 2 {
		t.Errorf("%d of 2000 honest sides are called liars", wrong)
	}
}
