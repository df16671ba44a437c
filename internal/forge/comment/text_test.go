package comment_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/comment"
	"github.com/goatnote-inc/pawl/internal/judge/cost"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/ratchet"
)

// What people read, as they read it.
func TestReports(t *testing.T) {
	everything := append(many(25, 0), made["regression"]...)
	everything = append(everything, madeCase{name: "softmax", config: "N128", us: 40, effect: 0.3})
	for name, input := range map[string]func() comment.Input{
		"fail": func() comment.Input {
			in := judged(t, madeRun(everything...), "quarantine: [{case: softmax/N128, owner: '@kernels', until: 2026-12-31, reason: 'two speeds, see #12'}]\n")
			in.Account = &cost.RunCost{Seconds: 131, Dollars: 0.0291}
			in.Cost = &cost.Summary{Runs: 40, Dollars: 2, MonthRuns: 31, MonthDollars: 1.55, Caught: 2}
			return in
		},
		"pass":      func() comment.Input { return judged(t, madeRun(made["maintained"]...), "") },
		"fork":      func() comment.Input { in := judged(t, madeRun(made["improvement"]...), ""); in.Fork = true; return in },
		"no-answer": func() comment.Input { return judged(t, madeRun(made["inconclusive"]...), "") },
		"identical": func() comment.Input { return inputFor(t, strings.Fields("identical . enforce no no")) },
		"tool-failed": func() comment.Input {
			in := inputFor(t, strings.Fields("error . enforce no no"))
			in.ToolFailed = "The device did not answer."
			return in
		},
		"advise": func() comment.Input {
			return judged(t, madeRun(made["regression"]...), "gate: {mode: advise, since: 2026-11-01}\n")
		},
		"accepted": func() comment.Input {
			in := inputFor(t, strings.Fields("regression . enforce no yes"))
			return in
		},
		"does-not-build": func() comment.Input {
			in := inputFor(t, strings.Fields("identical . enforce no no"))
			in.Claimed = ratchet.Broken
			in.Stages = []report.Stage{{Name: "build", Answer: "stop", Line: "kernel.c:7:3: expected a semicolon", Detail: []string{"all it printed: logs/candidate.build.log"}}}
			return in
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := comment.New(input())
			got := n.Check.Name + "\n" + string(n.Check.Conclusion) + "\n" + n.Check.Title + "\n" + n.Section.Key + "\n\n" + n.Section.Body
			golden.Check(t, name+".md", got)
		})
	}
}

// Enforcement is proposed after two weeks of advice, and never without a start date.
func TestProposesToEnforce(t *testing.T) {
	for gate, want := range map[string]bool{
		"gate: {mode: advise, since: 2026-11-06}":  true,
		"gate: {mode: advise, since: 2026-11-07}":  false,
		"gate: {mode: advise}":                     false,
		"gate: {mode: enforce, since: 2026-01-01}": false,
		"gate: {mode: advise, since: 2027-01-01}":  false,
	} {
		body := comment.New(judged(t, madeRun(made["maintained"]...), gate)).Section.Body
		if got := strings.Contains(body, "replace `mode: advise` with `mode: enforce`"); got != want {
			t.Errorf("%s: proposes %t", gate, got)
		}
	}
}

// However much there is to say, it fits, and what is worst is said.
func TestFits(t *testing.T) {
	cases := many(100, 0)
	for _, c := range many(200, 0.1) {
		c.name, c.config = "slow", c.config+strings.Repeat("_long", 30)
		cases = append(cases, c)
	}
	cases = append(cases, madeCase{name: "worst", us: 100, effect: 0.5})
	n := comment.New(judged(t, madeRun(cases...), ""))
	if size := len(n.Section.Body); size > comment.Limit || size < comment.Limit/2 {
		t.Fatalf("%d bytes", size)
	}
	for _, want := range []string{"`worst`", "201 regressions", "more are not shown", comment.AcceptLine(madeHead), "[run]("} {
		if !strings.Contains(n.Section.Body, want) {
			t.Errorf("%q is not said", want)
		}
	}
}

// A compiler names lines; what is outside the repository, or no line, is not annotated.
func TestAnnotations(t *testing.T) {
	in := comment.Input{SHA: madeHead, Claimed: ratchet.Broken, Folder: "kernels/softmax", Gate: base(t, "").Gate, Now: madeNow}
	in.Stages = []report.Stage{
		{Name: "preflight", Answer: "warn", Line: "a.cu:1:1: only a warning"},
		{Name: "build", Answer: "stop", Line: "softmax.cu:12:3: expected a \x1b[31msemicolon", Detail: []string{
			"../common/tile.cuh:9: no such thing", "../../../etc/passwd.txt:1:1: outside", "/usr/include/x.h:3:1: not ours",
			"a.cu:0:1: no line", "a.cu:9999999:1: too many", "plain text", "Makefile:3: *** no", "a.cu:4",
		}},
	}
	want := []forge.Annotation{
		{Path: "kernels/softmax/softmax.cu", Line: 12, Level: forge.Fault, Title: "pawl: build", Message: "expected a [31msemicolon"},
		{Path: "kernels/common/tile.cuh", Line: 9, Level: forge.Fault, Title: "pawl: build", Message: "no such thing"},
	}
	if diff := cmp.Diff(want, comment.New(in).Check.Annotations); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestNames(t *testing.T) {
	for want, names := range map[string][]string{
		"attention/nvidia-l4": {"Attention", "NVIDIA L4"},
		"nvidia-h100-80gb":    {"", "NVIDIA  H100 (80GB)"},
		"pawl":                {"", "<!-- -->"},
		"a.b":                 {"../a.b"},
		"x":                   {"x--\n>"},
	} {
		if got := comment.Key(names...); got != want {
			t.Errorf("%q: %q, want %q", names, got, want)
		}
	}
	if comment.CheckName("") != "pawl" || comment.CheckName("softmax") != "pawl / softmax" {
		t.Error("a branch protection asks for these names")
	}
	start := comment.Started("", madeHead, "https://x", time.Time{})
	if start.Status != forge.InProgress || start.Conclusion != "" || start.SHA != madeHead {
		t.Errorf("%+v", start)
	}
	if c := comment.Unaffected("", madeHead); c.Conclusion != forge.Success || c.Title != "no kernel touched" {
		t.Errorf("%+v", c)
	}
}
