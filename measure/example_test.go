package measure_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/stats"
)

func ExampleLoad() {
	run, err := measure.Load("testdata/v1/run.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(run.Suite.Name, "on", run.Device.Name)
	for _, c := range run.Cases {
		fmt.Println(c.CaseKey, len(c.Rounds))
	}
	// Output:
	// attention on NVIDIA L4
	// attention/B32@cold/candidate 2
	// attention/B32@cold/base 1
	// alloc:allocs/op/candidate 0
}

// A large record is read round by round, without holding all samples in memory.
func ExampleScanFile() {
	_, err := measure.ScanFile("testdata/v1/run.json", func(c *measure.Case, r measure.CaseRound) error {
		if len(r.Samples) > 0 {
			fmt.Printf("%s, round %d: %.4g %s\n", c.CaseKey, r.Round, stats.Median(r.Samples), c.Unit)
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// attention/B32@cold/candidate, round 0: 6.042e+04 ns
	// attention/B32@cold/candidate, round 1: 3 ns
	// <nil>
}

// Save writes a record that any version of pawl can read later. A name that ends in .zst is compressed.
func ExampleSave() {
	dir, err := os.MkdirTemp("", "record")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	run, err := measure.Load("testdata/v1/run.json")
	if err != nil {
		fmt.Println(err)
		return
	}
	path := filepath.Join(dir, "run.json.zst")
	if err := measure.Save(path, run); err != nil {
		fmt.Println(err)
		return
	}
	again, err := measure.Load(path)
	fmt.Println(err, again.ID == run.ID, len(again.Cases))
	// Output:
	// <nil> true 3
}

// Numbers are compared only if they were taken under the same conditions.
func ExampleTestbed_Differs() {
	a := measure.Testbed{Device: "NVIDIA L4", Driver: "570.124.06", PowerCapW: 72, Clocks: gpu.ClockPolicy{Mode: gpu.ClocksBase}}
	b := a
	b.Driver, b.PowerCapW = "575.57.08", 60
	for _, d := range a.Differs(b) {
		fmt.Println(d)
	}
	// Output:
	// driver: 570.124.06 and 575.57.08
	// power cap: 72 W and 60 W
}

func ExampleMatchCase() {
	fmt.Println(measure.MatchCase("attention/S*", "attention/S512", "attention"), measure.MatchCase("softmax", "softmax/N8", "softmax"), measure.MatchCase("soft", "softmax/N8", "softmax"))
	// Output:
	// true true false
}
