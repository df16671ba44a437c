package gpu_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/gpu"
)

var anyArch = rapid.Map(rapid.SampledFrom(gpu.ArchNames()), func(name string) gpu.Arch {
	arch, err := gpu.FindArch(name)
	if err != nil {
		panic(err)
	}
	return arch
})

func anyLaunch(t *rapid.T, arch gpu.Arch) gpu.Launch {
	return gpu.Launch{
		Threads:       rapid.IntRange(1, 1024).Draw(t, "threads"),
		Registers:     rapid.IntRange(0, 255).Draw(t, "registers"),
		StaticShared:  rapid.IntRange(0, 48<<10).Draw(t, "static"),
		DynamicShared: rapid.IntRange(0, arch.SharedPerBlock.Value).Draw(t, "dynamic"),
		Carveout:      rapid.IntRange(0, arch.SharedPerSM.Value).Draw(t, "carve-out"),
		Barriers:      rapid.IntRange(0, 16).Draw(t, "barriers"),
	}
}

func occupancy(t *rapid.T, arch gpu.Arch, l gpu.Launch) gpu.Occupancy {
	o, err := arch.Occupancy(l)
	if err != nil {
		t.Fatalf("%s %+v: %v", arch.Name, l, err)
	}
	return o
}

// An SM never holds more than it has, and what binds is what is named.
func TestOccupancyIsPossible(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		arch := anyArch.Draw(t, "arch")
		o := occupancy(t, arch, anyLaunch(t, arch))
		if o.Occupancy < 0 || o.Occupancy > 1 {
			t.Fatalf("occupancy %v", o.Occupancy)
		}
		if o.BlocksPerSM*o.RegistersPerBlock > arch.RegistersPerSM.Value || o.BlocksPerSM*o.SharedPerBlock > max(o.SharedPerSM, 0) && o.BlocksPerSM > 0 {
			t.Fatalf("%d blocks do not fit: %+v", o.BlocksPerSM, o)
		}
		if (o.BlocksPerSM == 0) != (len(o.Refused) > 0) {
			t.Fatalf("%d blocks, refused %q", o.BlocksPerSM, o.Refused)
		}
		for _, l := range o.Limits {
			if binds := slices.Contains(o.Limiters, l.Resource); l.Blocks < o.BlocksPerSM || binds != (l.Blocks == o.BlocksPerSM) {
				t.Fatalf("%v allows %d, there are %d, limiters %v", l.Resource, l.Blocks, o.BlocksPerSM, o.Limiters)
			}
		}
		if len(o.Limiters) == 0 {
			t.Fatal("nothing limits")
		}
	})
}

// Needing more never gives more blocks, and needing more within a step gives the same.
func TestMoreNeverGivesMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		arch := anyArch.Draw(t, "arch")
		less := anyLaunch(t, arch)
		more := less
		by := rapid.IntRange(1, 300).Draw(t, "by")
		switch rapid.IntRange(0, 3).Draw(t, "of") {
		case 0:
			more.Registers += by
		case 1:
			more.DynamicShared += by
		case 2:
			more.Threads += by
		case 3:
			more.Barriers += by
		}
		if a, b := occupancy(t, arch, less), occupancy(t, arch, more); b.BlocksPerSM > a.BlocksPerSM {
			t.Fatalf("%+v: %d blocks, %+v: %d", less, a.BlocksPerSM, more, b.BlocksPerSM)
		}
		step := less
		step.Threads = (less.Threads + 31) / 32 * 32
		if less.Registers > 0 {
			step.Registers = min(255, (less.Registers+7)/8*8)
		}
		if a, b := occupancy(t, arch, less), occupancy(t, arch, step); b.BlocksPerSM != a.BlocksPerSM {
			t.Fatalf("%+v: %d blocks, filled up to its steps %d", less, a.BlocksPerSM, b.BlocksPerSM)
		}
	})
}

// What would raise it does when tried, and no more than is said is needed.
func TestRaisesAreTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		arch := anyArch.Draw(t, "arch")
		o := occupancy(t, arch, anyLaunch(t, arch))
		for _, r := range o.Options {
			with := occupancy(t, arch, r.Launch)
			if with.BlocksPerSM != r.Blocks || with.Occupancy != r.Occupancy {
				t.Fatalf("%s: when tried %d blocks, %v", r.Text, with.BlocksPerSM, with.Occupancy)
			}
			if with.Occupancy <= o.Occupancy {
				t.Fatalf("%s: occupancy %v, was %v", r.Text, with.Occupancy, o.Occupancy)
			}
			if tight := r.Launch; tight.Registers != o.Launch.Registers && tight.Registers < 255 {
				tight.Registers++
				if got := occupancy(t, arch, tight).BlocksPerSM; got >= r.Blocks {
					t.Fatalf("%s: so would %d registers", r.Text, tight.Registers)
				}
			}
		}
	})
}

// Where registers alone are short there is a way up.
func TestShortOfRegistersCanBeRaised(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		arch := anyArch.Draw(t, "arch")
		l := gpu.Launch{Threads: rapid.IntRange(1, 1024).Draw(t, "threads"), Registers: rapid.IntRange(1, 300).Draw(t, "registers")}
		o := occupancy(t, arch, l)
		if slices.Equal(o.Limiters, []gpu.Resource{gpu.LimitRegisters}) && len(o.Options) == 0 {
			t.Fatalf("nothing raises %+v", o)
		}
	})
}

// A budget is the most that works.
func TestBudgets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		arch := anyArch.Draw(t, "arch")
		threads := rapid.IntRange(1, 1024).Draw(t, "threads")
		warps := arch.WarpsPerSM.Value / ((threads + 31) / 32)
		blocks := rapid.IntRange(1, min(warps, arch.BlocksPerSM.Value)).Draw(t, "blocks")
		carveout := rapid.IntRange(0, arch.SharedPerSM.Value).Draw(t, "carve-out")
		fits := func(l gpu.Launch) bool { return occupancy(t, arch, l).BlocksPerSM >= blocks }

		registers := arch.RegisterBudget(threads, blocks)
		if registers < 1 || !fits(gpu.Launch{Threads: threads, Registers: registers}) || fits(gpu.Launch{Threads: threads, Registers: registers + 1}) {
			t.Fatalf("%d registers are not the most for %d blocks of %d threads", registers, blocks, threads)
		}
		shared := arch.SharedBudget(blocks, carveout)
		if shared >= 0 && !fits(gpu.Launch{Threads: threads, DynamicShared: shared, Carveout: carveout}) ||
			fits(gpu.Launch{Threads: threads, DynamicShared: shared + 1, Carveout: carveout}) {
			t.Fatalf("%d bytes are not the most for %d blocks with a carve-out of %d", shared, blocks, carveout)
		}
	})
}

func TestNoBudget(t *testing.T) {
	arch := find(t, "sm_89")
	for _, got := range []int{arch.RegisterBudget(0, 1), arch.RegisterBudget(1, 0), arch.RegisterBudget(1537, 1), arch.RegisterBudget(32, 25)} {
		if got != 0 {
			t.Errorf("a register budget of %d for nothing", got)
		}
	}
	for _, got := range []int{arch.SharedBudget(0, 0), arch.SharedBudget(1, -1), arch.SharedBudget(1, 100<<10+1), arch.SharedBudget(101, 0)} {
		if got != -1 {
			t.Errorf("a shared memory budget of %d for nothing", got)
		}
	}
}
