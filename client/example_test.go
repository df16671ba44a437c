package client_test

import (
	"fmt"
	"os"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
)

// Who is told about a slower kernel?
func ExampleParseOwners() {
	owners := client.ParseOwners([]byte("*            @org/kernels\n/attention/  @ada\n"))
	fmt.Println(owners.Of("attention/flash.cu"), owners.Of("softmax/kernel.cu"))
	// Output:
	// [@ada] [@org/kernels]
}

// A report that waits in a spool survives a crash, and is sent later.
func ExampleSpool() {
	dir, err := os.MkdirTemp("", "spool")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	spool := client.Spool{Dir: dir}
	report := &client.Report{
		Schema: client.SchemaReport, Run: "01JNGBMS0000000000000000AB", Measured: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Suite: "softmax", Trust: measure.Trusted,
		Commit:  client.Commit{SHA: "c0ffeec0ffeec0ffeec0ffeec0ffeec0ffeec0ff"},
		Device:  gpu.Identity{Kind: gpu.CPU, Name: "a CPU"},
		Testbed: measure.Testbed{Kind: gpu.CPU, Device: "a CPU"},
		Points: []client.Point{{
			CaseKey: measure.CaseKey{Benchmark: "softmax", Implementation: measure.Candidate}, Unit: "ns", Better: measure.Lower,
			Value: 1200, Low: 1190, High: 1215, Rounds: 8, Samples: 400,
		}},
	}
	if _, err := spool.Add(client.Destination{Server: "https://pawl.example.com", Project: "kernels"}, report, nil); err != nil {
		fmt.Println(err)
		return
	}
	waiting, err := spool.Pending()
	for _, p := range waiting {
		fmt.Println(p.Run, "for", p.To.Project, err)
	}
	// Output:
	// 01JNGBMS0000000000000000AB for kernels <nil>
}

func ExampleDecode() {
	_, err := client.Decode([]byte(`{"schema":"pawl.report/v1","run":"x"}`), time.Now())
	fmt.Println(err)
	// Output:
	// report: /run: must be a ULID: 26 letters and digits
}
