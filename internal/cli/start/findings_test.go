package start

import (
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/doctor"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

var someFindings = []doctor.Finding{
	{Group: doctor.Machine, Name: "cpu", State: doctor.OK, Message: "Acme 9000, 16 cores"},
	{Group: doctor.Machine, Name: "governor", State: doctor.Warn, Message: "powersave: the CPU's clock follows the load", Fix: "echo performance | sudo tee ..."},
	{Group: doctor.Device, Name: "nvidia", State: doctor.Note, Message: "no NVIDIA GPU: the driver is not loaded"},
	{Group: doctor.Toolchain, Name: "make", State: doctor.OK, Message: "/usr/bin/make"},
	{Group: doctor.Suite, Name: "suite", State: doctor.Missing, Message: "pawl.yaml:2:1: unknown key \"a\"\npawl.yaml:3:1: unknown key \"b\"", Fix: "correct pawl.yaml"},
	{Group: doctor.Suite, Name: "results", State: doctor.Missing, Message: "the disk of results is full", Fix: "make room"},
}

func TestFindings(t *testing.T) {
	without := func(s doctor.State) doctor.Report {
		var r doctor.Report
		for _, f := range someFindings {
			if f.State != s {
				r.Findings = append(r.Findings, f)
			}
		}
		return r
	}
	tests := []struct {
		file  string
		style report.Style
		r     doctor.Report
	}{
		{"doctor-missing.txt", report.Style{}, doctor.Report{Findings: someFindings}},
		{"doctor-usable.txt", report.Style{}, without(doctor.Missing)},
		{"doctor-color.txt", report.Style{Color: true}, doctor.Report{Findings: someFindings}},
	}
	for _, tt := range tests {
		var b strings.Builder
		if err := writeFindings(&b, tt.style, tt.r); err != nil {
			t.Fatal(err)
		}
		golden.Check(t, tt.file, b.String())
	}
}

// sameCode is a run of two cases against themselves, and of one that fails.
func sameCode() *measure.Run {
	run := &measure.Run{Header: measure.Header{Suite: measure.SuiteRef{Name: "attention"}, Device: gpu.Identity{Kind: gpu.CPU, Name: "Acme 9000"}}}
	for i := range 4 {
		run.Rounds = append(run.Rounds, measure.Round{Index: i})
	}
	add := func(name, side string, spread float64, medians ...float64) {
		c := measure.Case{CaseKey: measure.CaseKey{Benchmark: "attn", Config: name, Implementation: side}, Unit: "ns", Timer: measure.TimerWall}
		for i, m := range medians {
			c.Rounds = append(c.Rounds, measure.CaseRound{
				Round: i, Samples: measure.Samples{m * (1 - spread), m, m * (1 + spread)}, CPU: measure.Samples{medians[0] * (0.7 + float64(i)/100)},
			})
		}
		run.Cases = append(run.Cases, c)
	}
	add("S128", "candidate", 0.01, 1000, 1010, 1005, 1000)
	add("S128", "base", 0.01, 1001, 1009, 1004, 1002)
	add("S512", "candidate", 0.2, 9000, 9900, 9100, 8700)
	add("S512", "base", 0.2, 9500, 9000, 8900, 9800)
	run.Cases = append(run.Cases, measure.Case{
		CaseKey: measure.CaseKey{Benchmark: "attn", Config: "S8192", Implementation: "candidate"}, Timer: measure.TimerWall,
		Rounds: []measure.CaseRound{{Error: "out of memory"}},
	})
	return run
}

func TestNoiseText(t *testing.T) {
	run := sameCode()
	n := doctor.NewNoise(run, ratchet.Default(), nil)
	found := doctor.Report{Findings: someFindings}
	var b strings.Builder
	err := writeNoise(&b, report.Style{}, run, &noiseDocument{Record: "results/noise.json", Noise: n, Words: n.Words(), Help: n.Advice(found)})
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, "doctor-noise.txt", b.String())
}
