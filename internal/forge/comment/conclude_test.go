package comment_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/comment"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/ratchet"
)

// The table is the policy: what became of a verdict. A dot is what fail-on has by
// itself: regression, broken, missing.
func TestConclusions(t *testing.T) {
	const table = `
		verdict      fail-on        mode     fork  accepted | conclusion  title

		maintained   .              enforce  no    no       | success     2 unchanged
		maintained   .              advise   no    no       | success     2 unchanged
		maintained   .              enforce  yes   no       | neutral     claimed by a fork: 2 unchanged
		improvement  .              enforce  no    no       | success     1 improvement
		improvement  .              enforce  yes   no       | neutral     claimed by a fork: 1 improvement
		identical    .              enforce  no    no       | success     no input of a build or a kernel differs
		identical    .              enforce  yes   no       | neutral     claimed by a fork

		regression   .              enforce  no    no       | failure     1 regression
		regression   .              advise   no    no       | neutral     would have failed: 1 regression
		regression   .              enforce  no    yes      | neutral     accepted by ada: 1 regression
		regression   .              advise   no    yes      | neutral     accepted by ada
		regression   .              enforce  yes   no       | neutral     claimed by a fork: 1 regression
		regression   .              enforce  yes   yes      | neutral     claimed by a fork
		regression   broken         enforce  no    no       | neutral     1 regression
		missing      .              enforce  no    no       | failure     1 missing
		missing      .              enforce  no    yes      | neutral     accepted by ada
		missing      regression     enforce  no    no       | neutral     1 missing

		broken       .              enforce  no    no       | failure     1 broken
		broken       .              enforce  no    yes      | failure     1 broken
		broken       .              advise   no    yes      | neutral     would have failed: 1 broken
		broken       regression     enforce  no    no       | neutral     1 broken
		broken       .              enforce  yes   no       | neutral     claimed by a fork: 1 broken

		inconclusive .              enforce  no    no       | neutral     1 inconclusive
		inconclusive inconclusive   enforce  no    no       | failure     1 inconclusive
		inconclusive inconclusive   enforce  no    yes      | neutral     accepted by ada
		inconclusive inconclusive   advise   no    no       | neutral     would have failed
		inconclusive inconclusive   enforce  yes   no       | neutral     claimed by a fork

		error        .              enforce  no    no       | neutral     pawl or its machine failed
		error        error          enforce  no    no       | failure     pawl or its machine failed
		error        error          advise   no    no       | neutral     would have failed
		error        error          enforce  no    yes      | neutral     accepted by ada
		error        error          enforce  yes   no       | neutral     claimed by a fork
	`
	rows := 0
	for line := range strings.Lines(table) {
		left, right, ok := strings.Cut(strings.TrimSpace(line), "|")
		if !ok || strings.Contains(left, "fail-on") {
			continue
		}
		rows++
		want := strings.Fields(left)
		conclusion, title, _ := strings.Cut(strings.TrimSpace(right), " ")
		t.Run(strings.Join(want, " "), func(t *testing.T) {
			n := comment.New(inputFor(t, want))
			if n.Check.Status != forge.Completed || string(n.Check.Conclusion) != conclusion || !strings.HasPrefix(n.Check.Title, strings.TrimSpace(title)) {
				t.Errorf("%s: %q\nwant %s", n.Check.Conclusion, n.Check.Title, right)
			}
		})
	}
	if rows < 30 {
		t.Fatalf("only %d rows were read", rows)
	}
}

// inputFor is the input of a row: verdict, fail-on, mode, fork, accepted.
func inputFor(t *testing.T, row []string) comment.Input {
	t.Helper()
	var in comment.Input
	gate := "gate: {mode: " + row[2] + "}\n"
	if row[1] != "." {
		gate = fmt.Sprintf("gate: {mode: %s, fail-on: %s}\n", row[2], row[1])
	}
	switch row[0] {
	case "identical", suite.FailOnError:
		in = comment.Input{SHA: madeHead, Gate: base(t, gate).Gate, Now: madeNow}
		if row[0] == "identical" {
			in.Claimed = ratchet.Identical
		}
	default:
		in = judged(t, madeRun(made[row[0]]...), gate)
		if string(in.Result.Verdict) != row[0] {
			t.Fatalf("the record is %s, not %s: %s", in.Result.Verdict, row[0], in.Result.Sentence)
		}
	}
	in.Fork = row[3] == "yes"
	if row[4] == "yes" {
		in.Accepted = &comment.Acceptance{By: "ada", At: madeNow, Reason: "worth it", URL: "https://github.com/o/n/pull/1#issuecomment-1"}
	}
	return in
}

// A verdict that fails hides none that fails too.
func TestEveryGatedCaseCounts(t *testing.T) {
	run := madeRun(append(made["regression"], madeCase{name: "gone", us: 10, gone: true})...)
	in := judged(t, run, "gate: {fail-on: missing}\n")
	if in.Result.Verdict != ratchet.Regression {
		t.Fatalf("verdict %s", in.Result.Verdict)
	}
	if c := comment.New(in).Check.Conclusion; c != forge.Failure {
		t.Errorf("%s, although a case is missing", c)
	}
}

// Without samples a claim may speak against a change, and for it only that there was
// nothing to measure.
func TestClaimsWithoutSamples(t *testing.T) {
	for claim, want := range map[ratchet.Verdict]forge.Conclusion{
		ratchet.Maintained: forge.Neutral, ratchet.Improvement: forge.Neutral, ratchet.New: forge.Neutral, "excellent": forge.Neutral, "": forge.Neutral,
		ratchet.Identical: forge.Success, ratchet.Broken: forge.Failure, ratchet.Inconclusive: forge.Neutral,
	} {
		n := comment.New(comment.Input{SHA: madeHead, Claimed: claim, Gate: base(t, "").Gate, Now: madeNow})
		if n.Check.Conclusion != want {
			t.Errorf("%q claimed: %s, want %s", claim, n.Check.Conclusion, want)
		}
	}
}

func TestQuiet(t *testing.T) {
	for name, want := range map[string]bool{"maintained": true, "improvement": false, "regression": false, "inconclusive": false, "broken": false} {
		for _, quiet := range []bool{true, false} {
			in := judged(t, madeRun(made[name]...), fmt.Sprintf("gate: {quiet: %t}\n", quiet))
			if got := comment.New(in).Section.Quiet; got != (want && quiet) {
				t.Errorf("%s, quiet %t: %t", name, quiet, got)
			}
		}
	}
}

// The verdict of the measuring machine is shown if its samples say otherwise.
func TestOtherClaimIsTold(t *testing.T) {
	in := judged(t, madeRun(made["regression"]...), "")
	in.Claimed = ratchet.Improvement
	n := comment.New(in)
	if n.Check.Conclusion != forge.Failure || !strings.Contains(n.Section.Body, "reported improvement. Judged again from its samples") {
		t.Errorf("%s\n%s", n.Check.Conclusion, n.Section.Body)
	}
}
