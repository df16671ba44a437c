package gpu_test

import (
	"fmt"

	"github.com/goatnote-inc/pawl/gpu"
)

// Why does an SM hold so few blocks of a kernel?
func ExampleArch_Occupancy() {
	arch, err := gpu.FindArch("sm_90")
	if err != nil {
		fmt.Println(err)
		return
	}
	o, err := arch.Occupancy(gpu.Launch{Threads: 256, Registers: 128, DynamicShared: 40 << 10})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%d blocks, %.0f %% of the warps, limited by %s\n", o.BlocksPerSM, 100*o.Occupancy, o.LimitedBy())
	// Output:
	// 2 blocks, 25 % of the warps, limited by registers
}

// How many registers may a thread use, so that two blocks of 512 threads fit?
func ExampleArch_RegisterBudget() {
	arch, err := gpu.FindArch("8.9")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(arch.RegisterBudget(512, 2))
	// Output:
	// 64
}

func ExampleFindCards() {
	for _, c := range gpu.FindCards("a100") {
		fmt.Println(c.Name)
	}
	// Output:
	// A100 SXM 40GB
	// A100 PCIe 40GB
	// A100 SXM 80GB
	// A100 PCIe 80GB
}

// Is a kernel with ten operations per byte limited by memory?
func ExampleCard_Ridge() {
	l4 := gpu.FindCards("L4")[0]
	fmt.Printf("arithmetic limits from %.0f operations per byte on; at 10 the roof is %.1f TFLOPS\n", l4.Ridge(gpu.FP32), l4.Attainable(gpu.FP32, 10))
	// Output:
	// arithmetic limits from 101 operations per byte on; at 10 the roof is 3.0 TFLOPS
}

// No kernel can read a gigabyte faster than the memory allows.
func ExampleCard_Floor() {
	h100 := gpu.FindCards("H100 SXM")[0]
	f := h100.Floor(gpu.Work{Bytes: 1 << 30, Reads: 1 << 30, Cold: true})
	fmt.Printf("%.0f us\n", 1e6*f.Seconds)
	// Output:
	// 321 us
}

func ExampleParseClockPolicy() {
	for _, text := range []string{"base", "1500MHz", "fast"} {
		p, err := gpu.ParseClockPolicy(text)
		fmt.Println(p, err)
	}
	// Output:
	// base <nil>
	// 1500MHz <nil>
	// free clock policy "fast": must be free, base, max or a frequency such as 1500MHz
}

// A power cap is how many cards run all the time; heat invalidates a measurement.
func ExampleReasons() {
	r := gpu.SWPowerCap | gpu.HWThermal
	fmt.Println(r.Names(), r.Invalidating())
	// Output:
	// [sw_power_cap hw_thermal] hw_thermal
}
