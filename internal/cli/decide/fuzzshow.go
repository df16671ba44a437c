package decide

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/cli/progress"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/correctness"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/report"
)

// FuzzAnswer is the result of pawl fuzz. It is also its JSON output.
type FuzzAnswer struct {
	OK         bool            `json:"ok"`
	Passed     int             `json:"passed"`
	Failed     int             `json:"failed"`
	Skipped    int             `json:"skipped"`
	Seed       uint64          `json:"seed,string"` // secret until the search has ended
	Trust      string          `json:"trust,omitempty"`
	Benchmarks []fuzzBenchmark `json:"benchmarks"`
}

type fuzzBenchmark struct {
	*correctness.Report
	Failures []fuzzFailure `json:"failures,omitempty"`
}

// fuzzFailure is a shrunk failure.
type fuzzFailure struct {
	Message string   `json:"message"`
	Command []string `json:"command"` // repeats it
	Seconds float64  `json:"seconds"` // time it took to shrink
	File    string   `json:"file,omitempty"`
}

func (f *fuzzFlags) answer(reports []*correctness.Report, seed uint64, p *fuzzProgress) FuzzAnswer {
	a := FuzzAnswer{Seed: seed, Trust: f.Trust, Benchmarks: []fuzzBenchmark{}}
	for _, r := range reports {
		a.Passed, a.Failed, a.Skipped = a.Passed+r.Passed, a.Failed+r.Failed, a.Skipped+r.Skipped
		b := fuzzBenchmark{Report: r}
		for i, found := range r.Found {
			failure := fuzzFailure{
				Message: found.Smallest.Reason, Command: f.command(r.Benchmark, found.Smallest.Point),
				Seconds: p.shrinking(r.Benchmark, i), File: found.File,
			}
			// Failures of different kinds may shrink to the same point.
			if !slices.ContainsFunc(b.Failures, func(x fuzzFailure) bool { return slices.Equal(x.Command, failure.Command) }) {
				b.Failures = append(b.Failures, failure)
			}
		}
		a.Benchmarks = append(a.Benchmarks, b)
	}
	a.OK = a.Failed == 0 && a.Passed > 0
	return a
}

func (f *fuzzFlags) showFuzz(a FuzzAnswer) error {
	if f.JSON {
		return command.WriteJSON(f.Out, a)
	}
	var b strings.Builder
	for _, r := range a.Benchmarks {
		if err := f.writeBenchmark(&b, r); err != nil {
			return err
		}
	}
	fmt.Fprintln(&b, f.Style().Faint(fmt.Sprintf("seed %d", a.Seed)))
	_, err := f.Out.Write([]byte(b.String()))
	return err
}

func (f *fuzzFlags) writeBenchmark(b *strings.Builder, r fuzzBenchmark) error {
	style := f.Style()
	fmt.Fprintln(b, style.Bold(r.Benchmark)+": "+f.headline(r))
	if err := report.Table(b, style, []bool{false, true, true, false}, f.rows(r)); err != nil {
		return err
	}
	for _, x := range r.Failures {
		fmt.Fprintf(b, "\n%s %s\n  %s\n", style.Bad("wrong:"), x.Message, quoted(x.Command))
		if x.File != "" {
			fmt.Fprintln(b, style.Faint("  saved in "+x.File))
		}
	}
	for _, w := range r.Warnings {
		fmt.Fprintln(b, style.Warn("note: ")+w)
	}
	fmt.Fprintln(b)
	return nil
}

// headline returns the result of a benchmark in one line.
func (f *fuzzFlags) headline(r fuzzBenchmark) string {
	style := f.Style()
	parts := []string{style.Good(fmt.Sprintf("%d of %s passed", r.Passed, words.Plural(r.Passed+r.Failed, "point")))}
	if r.Failed > 0 {
		parts[0] = style.Bad(fmt.Sprintf("%d of %s failed", r.Failed, words.Plural(r.Passed+r.Failed, "point")))
	}
	if r.Skipped > 0 {
		parts = append(parts, fmt.Sprintf("%d skipped", r.Skipped))
	}
	if r.Untried > 0 {
		parts = append(parts, style.Warn(fmt.Sprintf("%d not tried", r.Untried)))
	}
	switch r.Repeated {
	case correctness.Bitwise:
		parts = append(parts, fmt.Sprintf("bitwise identical when repeated (%s)", words.Plural(r.RunTwice, "point")))
	case correctness.Bounded:
		parts = append(parts, fmt.Sprintf("within tolerance when repeated (%s)", words.Plural(r.RunTwice, "point")))
	}
	return strings.Join(append(parts, words.Duration(r.Took)), ", ")
}

// rows returns the configs with their worst error, or with --all every point.
func (f *fuzzFlags) rows(r fuzzBenchmark) [][]string {
	rows := [][]string{{"config", "points", "worst error", ""}}
	var order []string
	byConfig := map[string][]correctness.Result{}
	for _, x := range r.Results {
		name := suite.ConfigName(x.Params)
		if f.all {
			name += " " + x.Inputs + " " + strconv.FormatUint(x.Seed, 10)
		}
		if byConfig[name] == nil {
			order = append(order, name)
		}
		byConfig[name] = append(byConfig[name], x)
	}
	for _, name := range order {
		rows = append(rows, f.row(name, byConfig[name]))
	}
	const most = 40 // rows of a readable table
	if len(rows) > most && !f.all {
		bad := slices.DeleteFunc(slices.Clone(rows[1:]), func(row []string) bool { return row[3] == f.Style().Good("passed") })
		kept := append([][]string{rows[0]}, bad[:min(len(bad), most)]...)
		return append(kept, []string{fmt.Sprintf("and %d more", len(rows)-len(kept)), "", "", "--all shows them"})
	}
	return rows
}

func (f *fuzzFlags) row(name string, results []correctness.Result) []string {
	var worst float64
	compared, remark := false, f.Style().Good("passed")
	for _, x := range results {
		for _, c := range x.Comparisons {
			worst, compared = max(worst, c.MaxAbs), true
		}
		switch {
		case x.Status == correctness.Failed:
			remark = f.Style().Bad("failed: ") + x.Inputs + ": " + brief(x.Reason)
		case x.Status == correctness.Skipped && remark == f.Style().Good("passed"):
			remark = f.Style().Faint("skipped: ") + brief(x.Reason)
		}
	}
	text := ""
	if compared {
		text = fmt.Sprintf("%.2g", worst)
	}
	return []string{name, strconv.Itoa(len(results)), text, remark}
}

// brief shortens a reason to fit a row. The smallest failure is shown in full below the table.
func brief(s string) string {
	s, _, _ = strings.Cut(s, ", the worst: ")
	s, _, _ = strings.Cut(s, "\n")
	if r := []rune(s); len(r) > 100 {
		return string(r[:100]) + "..."
	}
	return s
}

var plainWord = lazyregexp.New(`^[A-Za-z0-9_.,:=+@%/-]+$`)

// quoted returns words as a shell command.
func quoted(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if out[i] = w; !plainWord.MatchString(w) {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}

// printFuzzPlan prints the plan of a dry run.
func (f *fuzzFlags) printFuzzPlan(planned []runner.FuzzPlanned) error {
	if f.JSON {
		return command.WriteJSON(f.Out, planned)
	}
	for _, p := range planned {
		if _, err := fmt.Fprintln(f.Out, progress.DescribePlan(p)); err != nil {
			return err
		}
	}
	return nil
}

// Fuzzed is the result of pawl fuzz, for the journal.
type Fuzzed struct {
	Answer     FuzzAnswer
	Benchmarks []suite.Benchmark
}
