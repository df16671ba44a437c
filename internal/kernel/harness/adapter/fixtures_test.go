package adapter

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/measure"
)

// fixture is a file, or a folder, that looks like what a tool writes.
type fixture struct{ format, path string }

// options asks for the one format that is not detected.
func (f fixture) options() Options {
	if f.format == timeLines.Name {
		return Options{Format: f.format}
	}
	return Options{}
}

// fixtures lists testdata/FORMAT/: every file there, and the folders that are
// read as a whole. Files that others name stand in folders of their own.
func fixtures(t testing.TB) []fixture {
	t.Helper()
	var list []fixture
	formats, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range formats {
		if dir.Name() == "fuzz" || dir.Name() == "rapid" { // what failed here before
			continue
		}
		entries, err := os.ReadDir(filepath.Join("testdata", dir.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if !e.IsDir() && !strings.HasSuffix(e.Name(), ".golden") {
				list = append(list, fixture{dir.Name(), filepath.Join("testdata", dir.Name(), e.Name())})
			}
		}
	}
	return append(list,
		fixture{"criterion", "testdata/criterion/target"},
		fixture{"criterion", "testdata/criterion/target/criterion/fib/new"},
		fixture{"criterion", "testdata/criterion/target/criterion/transpose/tiled/1024/new/sample.json"},
		fixture{"sdpa", "testdata/sdpa/with_env/config.json"},
	)
}

// TestGolden is the specification of the adapters as people read it: what becomes
// of each file, in words and numbers.
func TestGolden(t *testing.T) {
	for _, f := range fixtures(t) {
		t.Run(strings.TrimPrefix(f.path, "testdata/"), func(t *testing.T) {
			var got strings.Builder
			run, err := ReadFile(t.Context(), f.path, "", f.options())
			if err != nil {
				fmt.Fprintf(&got, "error: %v\n", err)
			} else {
				wholesome(t, run)
				describe(&got, run)
			}
			if broken := strings.Contains(f.path, "/broken_") || f.format == "unknown"; broken != (err != nil) {
				t.Errorf("error = %v, and the file's name says broken = %v", err, broken)
			}
			golden.File(t, f.path+".golden", got.String())
		})
	}
}

// describe prints what a run holds, without the samples.
func describe(w io.Writer, run *measure.Run) {
	fmt.Fprintf(w, "%s %s", run.Source, run.Format)
	if !run.Created.IsZero() {
		fmt.Fprintf(w, ", created %s", run.Created.Format(time.RFC3339))
	}
	fmt.Fprintf(w, "\ndevice %s\ntestbed %s\nenvironment %s\n", compact(run.Device), compact(run.Testbed), compact(run.Environment))
	for _, i := range run.Implementations {
		fmt.Fprintf(w, "implementation %s\n", compact(i))
	}
	for _, c := range run.Cases {
		fmt.Fprintf(w, "case %s\n  unit=%s timer=%s better=%s gate=%v params=%s", c.CaseKey, c.Unit, c.Timer, c.Better, c.Gate, compact(c.Params))
		if c.Flops > 0 || c.Bytes > 0 {
			fmt.Fprintf(w, " flops=%g bytes=%g", c.Flops, c.Bytes)
		}
		fmt.Fprintln(w)
		if c.Summary != nil {
			fmt.Fprintf(w, "  summary %s\n", compact(c.Summary))
		}
		for _, r := range c.Rounds {
			if r.Error != "" {
				fmt.Fprintf(w, "  round %d: error %q\n", r.Round, r.Error)
				continue
			}
			fmt.Fprintf(w, "  round %d: n=%d median=%.9g first=%.9g batch=%d", r.Round, len(r.Samples), median(r.Samples), r.Samples[0], r.Batch)
			for i, s := range []measure.Samples{r.Wall, r.CPU, r.Clocks} {
				if len(s) > 0 {
					fmt.Fprintf(w, " %s median=%.9g", []string{"wall", "cpu", "clocks"}[i], median(s))
				}
			}
			fmt.Fprintln(w)
		}
	}
	for _, warning := range run.Warnings {
		fmt.Fprintf(w, "warning %s [%s] %s\n", warning.Code, warning.Case, warning.Message)
	}
}

func median(s []float64) float64 {
	sorted := slices.Sorted(slices.Values(s))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

func compact(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

// tb is what testing.T and rapid.T have in common.
type tb interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// wholesome is what every run must be, whatever was read.
func wholesome(t tb, run *measure.Run) {
	t.Helper()
	if len(run.Cases) == 0 || len(run.Rounds) != 1 || len(run.Rounds[0].Cases) != len(run.Cases) {
		t.Fatalf("%d cases, %d rounds", len(run.Cases), len(run.Rounds))
	}
	if len(run.Warnings) > standard.warnings+1 {
		t.Errorf("%d warnings", len(run.Warnings))
	}
	seen := map[measure.CaseKey]bool{}
	for _, c := range run.Cases {
		if seen[c.CaseKey] {
			t.Errorf("case %s appears twice", c.CaseKey)
		}
		seen[c.CaseKey] = true
		for _, name := range []string{c.Benchmark, c.Config, c.Metric} {
			if len(name) > maxName || strings.ContainsAny(name, "\n\r\t\x00") {
				t.Errorf("unfit name %q", name)
			}
		}
		switch {
		case c.NoSamples != (c.Summary != nil), c.NoSamples != (len(c.Rounds) == 0), c.Gate != (c.Metric == ""):
			t.Errorf("case %s: no samples %v, summary %v, %d rounds, gate %v", c.CaseKey, c.NoSamples, c.Summary, len(c.Rounds), c.Gate)
		}
		for _, r := range c.Rounds {
			wholesomeRound(t, &c, r)
		}
	}
	if err := measure.Write(io.Discard, run); err != nil {
		t.Errorf("the run cannot be written: %v", err)
	}
}

func wholesomeRound(t tb, c *measure.Case, r measure.CaseRound) {
	t.Helper()
	if (len(r.Samples) == 0) != (r.Error != "") {
		t.Errorf("case %s: %d samples and error %q", c.CaseKey, len(r.Samples), r.Error)
	}
	isTime := c.Metric == ""
	for i, v := range r.Samples {
		if math.IsNaN(v) || math.IsInf(v, 0) || (isTime && v <= 0) {
			t.Errorf("case %s: sample %d is %v", c.CaseKey, i, v)
		}
	}
	for _, s := range []measure.Samples{r.Wall, r.CPU, r.Clocks} {
		if len(s) != 0 && len(s) != len(r.Samples) {
			t.Errorf("case %s: %d readings beside %d samples", c.CaseKey, len(s), len(r.Samples))
		}
	}
}

// TestDetect holds every fixture against every adapter: exactly its own must
// recognise it.
func TestDetect(t *testing.T) {
	for _, f := range fixtures(t) {
		if info, err := fs.Stat(os.DirFS("."), f.path); err != nil || info.IsDir() {
			continue
		}
		head, err := os.ReadFile(f.path)
		if err != nil {
			t.Fatal(err)
		}
		var hits []string
		for _, candidate := range formats {
			if candidate.detect(sketch(head)) {
				hits = append(hits, candidate.Name)
			}
		}
		want := []string{f.format}
		if f.format == "unknown" || f.format == timeLines.Name {
			want = nil
		}
		if diff := cmp.Diff(want, hits); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.path, diff)
		}
		if found, ok := recognise(head); ok != (want != nil) || (ok && found.Name != f.format) {
			t.Errorf("%s: recognise = %q, %v", f.path, found.Name, ok)
		}
	}
}

// TestDetectAnyCut says that a head that ends anywhere never fits two formats.
func TestDetectAnyCut(t *testing.T) {
	for _, f := range fixtures(t) {
		data, err := os.ReadFile(f.path)
		if err != nil {
			continue // a folder
		}
		for cut := 0; cut < len(data); cut += 293 {
			if found, ok := recognise(data[:cut]); ok && found.Name != f.format {
				t.Errorf("the first %d bytes of %s are taken for %s", cut, f.path, found.Name)
			}
		}
	}
}

func TestFormats(t *testing.T) {
	entries, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range Formats() {
		if f.Name == "" || f.Doc == "" || strings.Contains(f.Doc, "\n") {
			t.Errorf("format %+v needs a name and one line", f)
		}
		if !slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == f.Name }) {
			t.Errorf("format %s has no fixtures", f.Name)
		}
	}
}
