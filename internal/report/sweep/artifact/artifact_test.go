package artifact_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/internal/report/sweep"
	"github.com/goatnote-inc/pawl/internal/report/sweep/artifact"
	"github.com/goatnote-inc/pawl/measure"
)

func TestGolden(t *testing.T) {
	all := files(t, attention())
	all["terminal.txt"] = terminal(t, attention())
	for _, name := range []string{
		"terminal.txt", "README.md", "commands.txt", "environment.json", "tables/overall.tex", "tables/ranking.csv", "tables/ranking.tex",
		"tables/speedup.csv", "tables/speedup-by-config.csv", "tables/power.csv", "figures/speed.svg", "figures/speedup.svg",
	} {
		golden.Check(t, "attention/"+name, all[name])
	}
}

func terminal(t *testing.T, run *measure.Run) string {
	t.Helper()
	r, err := sweep.Analyze(run)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := artifact.Terminal(&b, r, report.Style{}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Two rounds have no power, and that is said in place of a number.
func TestTerminalOfTooFewRounds(t *testing.T) {
	run := attention()
	run.Rounds = run.Rounds[:2]
	for i := range run.Cases {
		run.Cases[i].Rounds = run.Cases[i].Rounds[:2]
	}
	if text := terminal(t, run); !strings.Contains(text, "too few rounds to tell implementations apart") || strings.Contains(text, "Inf") {
		t.Error(text)
	}
}

func TestSameRecordSameBytes(t *testing.T) {
	if diff := cmp.Diff(files(t, attention()), files(t, attention())); diff != "" {
		t.Error(diff)
	}
}

func TestFileNames(t *testing.T) {
	got := slices.Sorted(maps.Keys(files(t, attention())))
	want := "README.md commands.txt environment.json figures/speed.svg figures/speedup.svg sweep.json " +
		"tables/overall.csv tables/overall.tex tables/power.csv tables/power.tex tables/ranking.csv tables/ranking.tex " +
		"tables/speedup-by-config.csv tables/speedup-by-config.tex tables/speedup.csv tables/speedup.tex"
	if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
		t.Error(diff)
	}
}
