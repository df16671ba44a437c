package ratchet

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// on returns a part with these verdicts of cases a, b and so on.
func on(device string, verdicts ...Verdict) Part {
	r := Result{Schema: Schema, Counts: map[Verdict]int{}}
	for i, v := range verdicts {
		r.Cases = append(r.Cases, Judgment{Name: string(rune('a' + i)), Verdict: v, Gate: true, Sentence: device + " says " + string(v)})
	}
	r.conclude()
	return Part{Device: device, Result: &r}
}

func TestJoin(t *testing.T) {
	for name, c := range map[string]struct {
		parts    []Part
		verdict  Verdict
		sentence string
		lines    string // CASE VERDICT DEVICES
	}{
		"all unchanged": {
			[]Part{on("l4", Maintained), on("h100", Maintained)},
			Maintained, "Maintained on l4, maintained on h100.", "a maintained",
		},
		"the worst device decides": {
			[]Part{on("l4", Improvement, Maintained), on("h100", Maintained, Regression), on("mi300x", Maintained, Maintained)},
			Regression, "Regression on h100, improvement on l4, maintained on mi300x.",
			"a improvement l4; a maintained h100,mi300x; b regression h100; b maintained l4,mi300x",
		},
		"a device without a result is no answer": {
			[]Part{on("l4", Improvement), {Device: "h100", Why: "no device was free"}},
			Inconclusive, "No answer on h100, improvement on l4.", "a improvement l4",
		},
		"a failure outranks a device without a result": {
			[]Part{{Device: "h100", Why: "no device was free"}, on("l4", Regression)},
			Regression, "Regression on l4, no answer on h100.", "a regression l4",
		},
		"an unchanged case of fewer devices names them": {
			[]Part{on("l4", Maintained), {Device: "h100", Why: "canceled"}},
			Inconclusive, "No answer on h100, maintained on l4.", "a maintained l4",
		},
		"an improvement on one device": {
			[]Part{on("l4", Maintained), on("h100", Improvement)},
			Improvement, "Improvement on h100, maintained on l4.", "a improvement h100; a maintained l4",
		},
		"a verdict of another version is not a pass": {
			[]Part{on("l4", Maintained), {Device: "h100", Result: &Result{Verdict: "splendid"}}},
			"splendid", "No answer on h100, maintained on l4.", "a maintained l4",
		},
		"no device": {nil, "", "There is no device to join.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := Join(c.parts)
			var lines []string
			for _, j := range r.Cases {
				lines = append(lines, strings.TrimSpace(j.Name+" "+string(j.Verdict)+" "+strings.Join(j.Devices, ",")))
			}
			if r.Verdict != c.verdict || r.Sentence != c.sentence || strings.Join(lines, "; ") != c.lines {
				t.Errorf("%s: %s\n%s\nwant %s: %s\n%s", r.Verdict, r.Sentence, strings.Join(lines, "; "), c.verdict, c.sentence, c.lines)
			}
			if r.Severity() == SeverityPass && strings.Contains(r.Sentence, "No answer") {
				t.Errorf("%s passes without an answer", r.Verdict)
			}
		})
	}
}

func TestJoin_KeepsWhatPartsSay(t *testing.T) {
	l4 := on("l4", Maintained)
	l4.Result.Warnings, l4.Result.Undecided = []string{"the clocks were not locked"}, []string{"b"}
	l4.Result.Suite = &SuiteJudgment{Verdict: Regression, Sentence: "All cases together are slower."}
	r := Join([]Part{l4, {Device: "h100", Why: "no device was free"}})
	want := []string{"l4: the clocks were not locked", "l4: All cases together are slower.", "No answer on h100: no device was free"}
	if diff := cmp.Diff(want, r.Warnings); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"b on l4"}, r.Undecided); diff != "" {
		t.Error(diff)
	}
	if len(r.Devices) != 2 || r.Devices[0].Verdict != Maintained || r.Devices[1].Sentence != "no device was free" {
		t.Errorf("devices %+v", r.Devices)
	}
}

// The line of several unchanged devices shows the one that came closest to a regression.
func TestJoin_UnchangedShowsTheLargestLoss(t *testing.T) {
	var parts []Part
	for device, change := range map[string]float64{"l4": 0.001, "h100": 0.02, "mi300x": -0.01} {
		p := on(device, Maintained)
		p.Result.Cases[0].Facts = &Facts{Change: change}
		parts = append(parts, p)
	}
	r := Join(parts)
	if len(r.Cases) != 1 || r.Cases[0].Facts.Change != 0.02 || len(r.Cases[0].Devices) != 0 {
		t.Errorf("cases %+v", r.Cases)
	}
}
