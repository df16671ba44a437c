package suite

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/measure"
)

// files lists the example files of a kind.
func files(t testing.TB, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.FromSlash(pattern))
	if err != nil || len(list) == 0 {
		t.Fatalf("%s: %d files, %v", pattern, len(list), err)
	}
	return list
}

func read(t testing.TB, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// errorMark begins the last line of a bad file: the one mistake in it, as pawl has
// to report it.
const errorMark = "# error: "

// Each file in bad has exactly one mistake. What pawl says about it stands in the
// file, so the two can be read together.
func TestBad(t *testing.T) {
	for _, path := range files(t, "testdata/bad/*.yaml") {
		name := filepath.Base(path)
		t.Run(strings.TrimSuffix(name, ".yaml"), func(t *testing.T) {
			data := read(t, path)
			text, _, _ := strings.Cut(string(data), errorMark)
			_, err := Parse(name, data)
			found, ok := errors.AsType[Errors](err)
			if !ok || len(found) != 1 {
				t.Fatalf("want one mistake, found %d:\n%v", len(found), err)
			}
			got := strings.TrimPrefix(err.Error(), name+":")
			golden.File(t, path, text+errorMark+got+"\n")
		})
	}
}

// What a good file means is kept beside it in words: settings, variants and cases.
func TestOK(t *testing.T) {
	for _, path := range files(t, "testdata/ok/*.yaml") {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			s, err := Parse("pawl.yaml", read(t, path))
			if err != nil {
				t.Fatal(err)
			}
			golden.File(t, strings.TrimSuffix(path, ".yaml")+".txt", describe(s))
		})
	}
}

// describe writes a suite in words, so that a golden file can be read.
func describe(s *Suite) string {
	var b strings.Builder
	d := s.Device
	fmt.Fprintf(&b, "suite %q\n", s.Name)
	fmt.Fprintf(&b, "device kind=%q select=%q clocks=%s persistence=%t price=%v max_temperature=%v\n",
		d.Kind, d.Select, d.Clocks, d.Persistence, d.PricePerHour, d.MaxTemperature)
	fmt.Fprintf(&b, "measure samples=%d warmup=%d rounds=%v budget=%s/$%v\n",
		s.Measure.Samples, s.Measure.Warmup, s.Measure.Rounds, s.Budget.Time, s.Budget.Dollars)
	for _, m := range s.Metrics {
		fmt.Fprintf(&b, "metric %s = %s %s better=%s gate=%t\n", m.Name, m.Expr, m.Unit, m.Better, m.Gate)
	}
	for _, i := range s.Implementations {
		fmt.Fprintf(&b, "implementation %s\n", i.Name)
	}
	if s.Discover {
		fmt.Fprintln(&b, "benchmarks: from the harness")
	}
	for _, bench := range s.Benchmarks {
		if bench.Discover {
			fmt.Fprintf(&b, "benchmark %s: configs from the harness, for %v\n", bench.Name, bench.Implementations)
		}
	}
	if s.Trust != measure.Trusted || s.Definition != nil {
		fmt.Fprintf(&b, "trust=%s definition=%q\n", s.Trust, s.Definition)
	}
	for _, bench := range s.Benchmarks {
		describeProblem(&b, bench)
	}
	for _, v := range s.Variants() {
		fmt.Fprintf(&b, "variant of %s\n  build %s\n  harness %s\n", v.Implementation, v.Build.Key(), v.Harness.Key())
		for _, c := range v.Cases {
			fmt.Fprintf(&b, "    %s samples=%d warmup=%d timer=%q flops=%v bytes=%v gate=%t", c.CaseKey, c.Samples, c.Warmup, c.Timer, c.Flops, c.Bytes, c.Gate)
			for _, m := range c.Metrics {
				fmt.Fprintf(&b, " %s:%t", m.Name, m.Gate)
			}
			fmt.Fprintln(&b)
		}
	}
	for _, w := range s.Warnings {
		fmt.Fprintf(&b, "warning %s\n", w)
	}
	return b.String()
}

// describeProblem writes arguments, launch and check of each config, where there are any.
func describeProblem(b *strings.Builder, bench Benchmark) {
	for _, c := range bench.Configs {
		arguments, err := bench.Arguments(c.Params)
		for _, a := range arguments {
			line, _ := json.Marshal(a)
			fmt.Fprintf(b, "%s/%s argument %s\n", bench.Name, c.Name, line)
		}
		launch, launchErr := bench.Launch(c.Params)
		if launch != nil || err != nil || launchErr != nil {
			fmt.Fprintf(b, "%s/%s launch %+v %v %v\n", bench.Name, c.Name, launch, err, launchErr)
		}
		preflight, err := bench.Preflight(c.Params)
		claims, claimsErr := bench.Claims(c.Params)
		if none := (Preflight{Shared: -1, Dynamic: -1, Spills: auto}); launch == nil && preflight != none || claims != (Claims{}) || err != nil || claimsErr != nil {
			fmt.Fprintf(b, "%s/%s preflight %+v %v claims %+v %v\n", bench.Name, c.Name, preflight, err, claims, claimsErr)
		}
	}
	if t := bench.Tune; t != nil {
		for _, p := range t.Parameters {
			fmt.Fprintf(b, "tunable %s of %s: %v default=%v when=%v\n", p.Name, bench.Name, p.Values, p.Default, p.When)
		}
		fmt.Fprintf(b, "  constraints=%v\n", t.Constraints)
		if o := t.Occupancy; o != nil {
			fmt.Fprintf(b, "  occupancy threads=%v shared=%v registers=%v\n", o.Threads, o.Shared, o.Registers)
		}
	}
	if c := bench.Check; c != nil {
		tolerance, _ := json.Marshal(c.Tolerance)
		fmt.Fprintf(b, "check of %s: oracle=%q implementation=%q inputs=%v seeds=%d deterministic=%s tolerance=%s\n",
			bench.Name, c.Oracle, c.Implementation, c.Inputs, c.Seeds, c.Deterministic, tolerance)
		for _, f := range c.Expression {
			fmt.Fprintf(b, "  %s = %s\n", f.Output, f.Expr)
		}
		fmt.Fprintf(b, "  cover=%s jitter=%v edges=%v\n", c.Fuzz.Cover, c.Fuzz.Jitter, c.Fuzz.Edges)
		for _, config := range c.Fuzz.Configs {
			fmt.Fprintf(b, "  %s\n", config.Name)
		}
	}
}
