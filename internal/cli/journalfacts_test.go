package cli

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/measure"
)

// What tools print when a build stops, and what a session calls it.
func TestClassOf(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"kernel.cu:3:10: fatal error: cutlass/cutlass.h: No such file or directory", journal.MissingFile},
		{"make: *** No rule to make target 'kernel.o'.  Stop.", journal.MissingFile},
		{"main.o: in function `main': undefined reference to `launch(float*)'", journal.UndefinedSymbol},
		{"/usr/bin/ld: cannot find -lcublas", journal.UndefinedSymbol},
		{"undefined reference to `void attend<128, 64>(float const*)'", journal.Instantiation},
		{"undefined symbol: _Z6attendILi128ELi64EEvPKf", journal.Instantiation},
		{"undefined symbol: _ZN3c105ErrorC2ENS_14SourceLocationESs", journal.ABI},
		{"/lib/libstdc++.so.6: version `GLIBCXX_3.4.32' not found (required by ./kernel.so)", journal.ABI},
		{"nvcc fatal   : Unsupported gpu architecture 'compute_120'", journal.Toolchain},
		{"sh: 1: nvcc: command not found", journal.Toolchain},
		{"kernel.cu(12): error: expected a \";\"", journal.OtherMistake},
		{"", journal.OtherMistake},
	} {
		if got := buildFailureClass(c.text); got != c.want {
			t.Errorf("%q is called %q, not %q", c.text, got, c.want)
		}
	}
}

func TestBuiltBy(t *testing.T) {
	broken := &build.Error{Reason: "exit status 1", First: &build.Diagnostic{File: "kernel.c", Line: 7, Message: "tile.h: No such file or directory"}}
	side := func(side string, err error) error {
		return fmt.Errorf("measure: %w", &trial.SideError{Side: side, Err: err})
	}
	ok, missing := &journal.Built{OK: true}, &journal.Built{Class: journal.MissingFile, Where: "kernel.c:7", Text: "tile.h: No such file or directory"}
	for name, c := range map[string]struct {
		command string
		built   bool
		err     error
		want    *journal.Built
	}{
		"built":                            {"bench", true, nil, ok},
		"nothing was built":                {"bench", false, nil, nil},
		"a command that builds nothing":    {"report", true, broken, nil},
		"broken":                           {"build", false, side(suite.Candidate, broken), missing},
		"the base is broken":               {"bench", true, side(suite.Base, broken), ok},
		"a later failure is not the build": {"bench", true, errors.New("the device is busy"), ok},
		"no compiler":                      {"build", false, &build.MissingError{Tool: "nvcc"}, &journal.Built{Class: journal.Toolchain, Text: (&build.MissingError{Tool: "nvcc"}).Error()}},
		"built, and does not load": {
			"bench", true, side(suite.Candidate, errors.New("./kernel: symbol lookup error: undefined symbol: _ZN2at4_ops5zeros4callE")),
			&journal.Built{Class: journal.ABI, Text: "measure: candidate: ./kernel: symbol lookup error: undefined symbol: _ZN2at4_ops5zeros4callE"},
		},
	} {
		if d := cmp.Diff(c.want, buildResult(c.command, c.built, c.err)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// caseOf is a case with one round of a time in ns, or of an error.
func caseOf(config, implementation string, flops, ns float64, problem string) measure.Case {
	c := measure.Case{CaseKey: measure.CaseKey{Benchmark: "attend", Config: config, Implementation: implementation}, Unit: "ns", Flops: flops}
	round := measure.CaseRound{Error: problem}
	if problem == "" {
		round.Samples = measure.Samples{ns, ns, ns}
	}
	c.Rounds = []measure.CaseRound{round}
	return c
}

func TestMeasuredCases(t *testing.T) {
	run := &measure.Run{Cases: []measure.Case{
		caseOf("N128", measure.Candidate, 8, 80, ""),
		caseOf("N64", measure.Candidate, 1, 10, ""),
		caseOf("N64", measure.Base, 1, 20, ""),
		caseOf("N64", "torch", 1, 5, ""),
		caseOf("N64", "another", 1, 1, ""),
		caseOf("N256", measure.Candidate, 64, 0, trial.WrongResult+"0.5 off"),
		caseOf("N512", measure.Candidate, 512, 0, "the harness died"),
	}}
	run.Cases = append(run.Cases, measure.Case{CaseKey: measure.CaseKey{Benchmark: "attend", Config: "N64", Implementation: measure.Candidate, Metric: "power"}, Unit: "W"})
	want := []journal.MeasuredCase{
		{Case: "attend/N64", Work: 1, Candidate: 10, Base: 20, Reference: 5},
		{Case: "attend/N128", Work: 8, Candidate: 80},
		{Case: "attend/N256", Work: 64},
		{Case: "attend/N512", Work: 512},
	}
	got := measuredCases(run, "torch")
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(&journal.Checked{Points: 4, Failed: 1, Smallest: "attend/N64", SmallestOK: true, FirstBad: "attend/N256"}, wrongCases(run, got)); d != "" {
		t.Error(d)
	}
	run.Cases[5].Rounds[0].Error = ""
	if c := wrongCases(run, got); c != nil {
		t.Errorf("nothing is wrong, and it says %+v", c)
	}
}

// A round that does not count has no part in a time, and how rounds differ is its error.
func TestTimesOf(t *testing.T) {
	run := &measure.Run{Rounds: []measure.Round{{Index: 0}, {Index: 1}, {Index: 2, Dropped: "too hot"}}}
	c := measure.Case{Rounds: []measure.CaseRound{
		{Round: 0, Samples: measure.Samples{100, 100, 100}},
		{Round: 1, Samples: measure.Samples{100, 100, 100}},
		{Round: 2, Samples: measure.Samples{900, 900, 900}},
	}}
	if median, spread := timesOf(run, &c); median != 100 || spread != 0 {
		t.Errorf("%v with an error of %v", median, spread)
	}
	c.Rounds[1].Samples = measure.Samples{121, 121, 121}
	if median, spread := timesOf(run, &c); median <= 100 || median >= 121 || spread < 0.05 || spread > 0.15 {
		t.Errorf("%v with an error of %v", median, spread)
	}
	only := measure.Case{Summary: &measure.Summary{Median: 7}}
	if median, spread := timesOf(run, &only); median != 7 || spread != 0 {
		t.Errorf("of a summary: %v with an error of %v", median, spread)
	}
}
