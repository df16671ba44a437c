package client_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

var now = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

func sha(n int) string { return fmt.Sprintf("%040x", n) }

// example is a report as pawl sends it, with so many points.
func example(points int) *client.Report {
	at := now.Add(-time.Hour)
	parent := at.Add(-24 * time.Hour)
	r := &client.Report{
		Schema: client.SchemaReport, Run: "01JCPT3Y3JQK6Z0Q8W3V5N7D9F", Measured: now.Add(-10 * time.Minute), Pawl: "0.8.0", Suite: "attention",
		Commit: client.Commit{SHA: sha(2), Parent: sha(1), At: &at, Author: "Ada Example", Title: "attention: keep K in registers"},
		Branch: "main", History: []client.Commit{{SHA: sha(1), At: &parent, Author: "Ada Example", Title: "attention: début"}},
		Trust:   measure.Trusted,
		Device:  gpu.Identity{Kind: gpu.NVIDIA, Name: "NVIDIA L4", Driver: "550.54", Units: 58},
		Testbed: measure.Testbed{Kind: gpu.NVIDIA, Device: "NVIDIA L4", Driver: "550.54", PowerCapW: 72, Clocks: gpu.ClockPolicy{Mode: gpu.ClocksBase}},
		Health:  client.Health{TemperatureC: 61, SMClockMHz: 1500, PowerW: 55.5, Reasons: []string{"sw_power_cap"}, Noise: 0.004, Seconds: 182.25},
		Verdict: ratchet.Maintained, Sentence: "Maintained: 200 cases.",
		Blobs: []client.Blob{{Digest: strings.Repeat("ab", 32), Size: 12345, Kind: client.BlobRecord, Name: "current.json"}},
	}
	for i := range points {
		v := 12345.678 + float64(i)
		r.Points = append(r.Points, client.Point{
			CaseKey: measure.CaseKey{Benchmark: "attention", Config: fmt.Sprintf("B32_H8_S512_D%d", i), Implementation: measure.Candidate},
			Unit:    "ns", Timer: measure.TimerDevice, Value: v, Low: v - 12.5, High: v + 13.25, Spread: 0.00312, Rounds: 8, Samples: 800,
			Verdict: ratchet.Maintained, Baseline: v + 1, Path: "kernels/attention.cu", Owners: []string{"@octo/kernels"},
		})
	}
	return r
}

func encode(tb testing.TB, r *client.Report) []byte {
	tb.Helper()
	body, err := client.Encode(r)
	if err != nil {
		tb.Fatal(err)
	}
	return body
}
