package comment_test

import (
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/forge/comment"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

const benchmarks = `benchmarks:
  attention: {matrix: {S: [512]}}
  softmax: {matrix: {N: [64]}}
`

// The base's suite says what gates, what is quarantined and what has to be there; the
// record is believed in its samples.
func TestJudge(t *testing.T) {
	quarantine := func(until string) string {
		return "quarantine: [{case: 'attention/*', owner: '@a', until: " + until + ", reason: noisy}]\n"
	}
	for _, test := range []struct {
		name, suite string
		run         *measure.Run
		bend        func(*measure.Run)
		want        ratchet.Verdict
		excused     int
		released    int
	}{
		{name: "as it is", run: madeRun(made["regression"]...), suite: benchmarks, want: ratchet.Regression},
		{
			name: "the record gates nothing", run: madeRun(made["regression"]...), suite: benchmarks, want: ratchet.Regression,
			bend: func(r *measure.Run) { each(r, func(c *measure.Case) { c.Gate = false }) },
		},
		{
			name: "the record quarantines itself", run: madeRun(made["regression"]...), suite: benchmarks, want: ratchet.Regression,
			bend: func(r *measure.Run) { each(r, func(c *measure.Case) { c.Quarantine = "me, until the end" }) },
		},
		{name: "quarantined", run: madeRun(made["regression"]...), suite: benchmarks + quarantine("2026-11-20"), want: ratchet.Improvement, excused: 1},
		{name: "no longer", run: madeRun(made["regression"]...), suite: benchmarks + quarantine("2026-11-19"), want: ratchet.Regression, released: 1},
		{name: "quarantined and gone", run: madeRun(made["maintained"][1:]...), suite: benchmarks + quarantine("2026-11-20"), want: ratchet.Maintained, excused: 1},
		{name: "left out", run: madeRun(made["maintained"][1:]...), suite: benchmarks, want: ratchet.Missing},
		{name: "watched", run: madeRun(made["regression"]...), suite: strings.Replace(benchmarks, "{S: [512]}", "{S: [512]}, gate: false", 1), want: ratchet.Improvement},
		{name: "nothing at all", run: &measure.Run{}, suite: "", want: ratchet.Inconclusive},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.bend != nil {
				test.bend(test.run)
			}
			j := comment.Judge(test.run, base(t, test.suite), ratchet.Default(), false, madeNow)
			if j.Result.Verdict != test.want || len(j.Quarantined) != test.excused || len(j.Released) != test.released {
				t.Errorf("%s, %d quarantined, %d released: %s", j.Result.Verdict, len(j.Quarantined), len(j.Released), j.Result.Sentence)
			}
			for _, c := range j.Result.Cases {
				if c.Quarantine != "" && (c.Gate || c.Ratchet != ratchet.Holds) {
					t.Errorf("%s is quarantined, gated %t and %s", c.Name, c.Gate, c.Ratchet)
				}
			}
		})
	}
}

func each(r *measure.Run, f func(*measure.Case)) {
	for i := range r.Cases {
		f(&r.Cases[i])
	}
}

// A person's word settles what is measured by the change's own definitions; the record's
// own word does not.
func TestJudgeTakesNoWordOfTheRecord(t *testing.T) {
	run := madeRun(made["maintained"]...)
	run.Definition, run.Accepted = &measure.Definition{Changed: []string{"harness.c"}}, "trust me"
	for accepted, want := range map[bool]ratchet.Verdict{false: ratchet.Inconclusive, true: ratchet.Maintained} {
		if got := comment.Judge(run, base(t, benchmarks), ratchet.Default(), accepted, madeNow).Result.Verdict; got != want {
			t.Errorf("accepted %t: %s, want %s", accepted, got, want)
		}
	}
}

// Drift is told, and fails a change only where the base is strict.
func TestJudgeDrift(t *testing.T) {
	run := madeRun(made["maintained"]...)
	for _, c := range run.Cases {
		if c.Implementation != measure.Base {
			continue
		}
		c.Implementation = "baseline"
		c.Rounds = nil
		for i, r := range madeRun(madeCase{name: c.Benchmark, config: c.Config, us: 20}).Cases[0].Rounds {
			r.Round = i
			c.Rounds = append(c.Rounds, r)
		}
		run.Cases = append(run.Cases, c)
	}
	for strict, want := range map[bool]ratchet.Verdict{false: ratchet.Maintained, true: ratchet.Regression} {
		p := ratchet.Default()
		p.Strict = strict
		j := comment.Judge(run, base(t, benchmarks), p, false, madeNow)
		if j.Drift == nil || j.Drift.Verdict != ratchet.Regression || j.Result.Verdict != want {
			t.Errorf("strict %t: %s, drift %+v", strict, j.Result.Verdict, j.Drift)
		}
	}
}
