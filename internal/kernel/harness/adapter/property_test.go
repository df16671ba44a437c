package adapter

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"golang.org/x/perf/benchfmt"
	"pgregory.net/rapid"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/measure"
)

// times draws timings as tools have them: from a nanosecond to an hour.
func times(t *rapid.T, name string) []float64 {
	return rapid.SliceOfN(rapid.Float64Range(1, 3.6e12), 1, 20).Draw(t, name)
}

// TestOrderAndValueSurvive says that what a tool measured comes back sample by
// sample, in order, in nanoseconds, between whatever else a program prints.
func TestOrderAndValueSurvive(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		samples := times(rt, "samples")
		noise := rapid.SliceOfN(rapid.StringMatching(`(\[[A-Z]+\])?[a-zA-Z}\]" :]{0,20}`), 0, 3).Draw(rt, "noise")
		line, err := json.Marshal(map[string]any{"name": "k", "unit": "ns", "samples": samples})
		if err != nil {
			rt.Fatal(err)
		}
		run := mustRead(rt, "triton", strings.Join(append(noise, string(line)), "\n"))
		if diff := cmp.Diff(samples, []float64(run.Cases[0].Rounds[0].Samples)); diff != "" {
			rt.Fatalf("triton (-want +got):\n%s", diff)
		}
	})
}

// TestGoLinesSurvive writes with the reference writer of the format.
func TestGoLinesSurvive(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		samples := times(rt, "samples")
		allocs := rapid.SliceOfN(rapid.Float64Range(0, 1e6), len(samples), len(samples)).Draw(rt, "allocs")
		var text bytes.Buffer
		w := benchfmt.NewWriter(&text)
		for i := range samples {
			err := w.Write(&benchfmt.Result{
				Name: benchfmt.Name("Mul/n=64-8"), Iters: 10,
				Values: []benchfmt.Value{{Value: samples[i], Unit: "ns/op"}, {Value: allocs[i], Unit: "allocs/op"}},
			})
			if err != nil {
				rt.Fatal(err)
			}
		}
		run := mustRead(rt, "", text.String())
		if diff := cmp.Diff(samples, []float64(run.Cases[0].Rounds[0].Samples)); diff != "" {
			rt.Fatalf("times (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(allocs, []float64(run.Cases[1].Rounds[0].Samples)); diff != "" {
			rt.Fatalf("allocs (-want +got):\n%s", diff)
		}
	})
}

// TestSidecarsSurvive writes float32 seconds and hertz as NVBench does.
func TestSidecarsSurvive(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		seconds := rapid.SliceOfN(rapid.Float32Range(1e-9, 100), 1, 20).Draw(rt, "seconds")
		hertz := rapid.SliceOfN(rapid.Float32Range(1e8, 3e9), len(seconds), len(seconds)).Draw(rt, "hertz")
		summary := func(tag, file string) string {
			return fmt.Sprintf(`{"tag":%q,"data":[{"name":"filename","type":"string","value":%q},{"name":"size","type":"int64","value":"%d"}]}`,
				tag, file, len(seconds))
		}
		doc := `{"benchmarks":[{"name":"k","states":[{"summaries":[` +
			summary("nv/json/bin:nv/cold/sample_times", "r.json-bin/0.bin") + "," +
			summary("nv/json/freqs-bin:nv/cold/sample_freqs", "r.json-freqs-bin/0.bin") + `]}]}]}`
		run, err := Read(rt.Context(), Source{Path: "r.json", Files: fstest.MapFS{
			"r.json":                 {Data: []byte(doc)},
			"r.json-bin/0.bin":       {Data: float32s(rt, seconds)},
			"r.json-freqs-bin/0.bin": {Data: float32s(rt, hertz)},
		}}, Options{})
		if err != nil {
			rt.Fatal(err)
		}
		wholesome(rt, run)
		round := run.Cases[0].Rounds[0]
		for i := range seconds {
			if float32(round.Samples[i]/1e9) != seconds[i] || float32(round.Clocks[i]*1e6) != hertz[i] {
				rt.Fatalf("sample %d: %v ns at %v MHz, want %v s at %v Hz", i, round.Samples[i], round.Clocks[i], seconds[i], hertz[i])
			}
		}
	})
}

func float32s(t *rapid.T, values []float32) []byte {
	b, err := binary.Append(nil, binary.LittleEndian, values)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestTamingKeepsValues says that taming changes no valid JSON, and that bare
// words in place of numbers read as null, never those inside strings.
func TestTamingKeepsValues(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		texts := rapid.SliceOf(rapid.OneOf(rapid.String(), rapid.Just(`NaN "-Infinity\`), rapid.Just("Infinity"))).Draw(rt, "texts")
		valid, err := json.Marshal(texts)
		if err != nil {
			rt.Fatal(err)
		}
		tame, err := sanitizeJSON(valid)
		if err != nil || !bytes.Equal(tame, valid) {
			rt.Fatalf("%s became %s, %v", valid, tame, err)
		}
		word := rapid.SampledFrom([]string{"NaN", "Infinity", "-Infinity"}).Draw(rt, "word")
		tame, err = sanitizeJSON(fmt.Appendf(nil, `{"t":%s,"v":[1,%s]}`, valid, word))
		if err != nil {
			rt.Fatal(err)
		}
		var got struct {
			T []string   `json:"t"`
			V []*float64 `json:"v"`
		}
		if err := json.Unmarshal(tame, &got); err != nil || len(got.V) != 2 || got.V[1] != nil {
			rt.Fatalf("%s: %v", tame, err)
		}
		var want []string
		if err := json.Unmarshal(valid, &want); err != nil || !slices.Equal(got.T, want) {
			rt.Fatalf("texts became %q, want %q", got.T, want)
		}
	})
}

// TestNoBadTimePasses puts one bad number among good ones: the error must name
// the file, the case and the position.
func TestNoBadTimePasses(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		samples := times(rt, "samples")
		at := rapid.IntRange(0, len(samples)-1).Draw(rt, "at")
		texts := make([]string, len(samples))
		for i, v := range samples {
			texts[i] = fmt.Sprintf("%g", v)
		}
		texts[at] = rapid.SampledFrom([]string{"0", "-0.0", "-1.5", "NaN", "Infinity", "-Infinity", "null", "1e400", "-1e400"}).Draw(rt, "bad")
		list := strings.Join(texts, ",")
		for format, doc := range map[string]string{
			"triton":           `{"name":"k","unit":"ns","samples":[` + list + `]}`,
			"hyperfine":        `{"results":[{"command":"k","times":[` + list + `]}]}`,
			"pytest-benchmark": `{"machine_info":{},"benchmarks":[{"name":"k","stats":{"data":[` + list + `]}}]}`,
		} {
			_, err := read(rt, format, doc)
			want := fmt.Sprintf("sample %d of %d", at+1, len(samples))
			if err == nil || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "input: "+format+": ") || !strings.Contains(err.Error(), "case k") {
				rt.Fatalf("%s with %s: error = %v, want one about case k, %s", format, texts[at], err, want)
			}
		}
	})
}

// TestMergeKeepsEverything says that merging neither loses nor invents a sample,
// and numbers the rounds without a gap.
func TestMergeKeepsEverything(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(rt, "files")
		var runs []*measure.Run
		want := map[string][]float64{}
		for i := range n {
			var lines []string
			for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a", "b", "c", "d"}), 1, 4, rapid.ID).Draw(rt, fmt.Sprintf("names %d", i)) {
				samples := times(rt, name)
				want[name] = append(want[name], samples...)
				line, err := json.Marshal(map[string]any{"name": name, "unit": "ns", "samples": samples})
				if err != nil {
					rt.Fatal(err)
				}
				lines = append(lines, string(line))
			}
			runs = append(runs, mustRead(rt, "triton", strings.Join(lines, "\n")))
		}
		merged, err := Merge(runs...)
		if err != nil {
			rt.Fatal(err)
		}
		for i, r := range merged.Rounds {
			if r.Index != i {
				rt.Fatalf("round %d has the number %d", i, r.Index)
			}
		}
		got := map[string][]float64{}
		for _, c := range merged.Cases {
			last := -1
			for _, r := range c.Rounds {
				if r.Round <= last || r.Round >= n {
					rt.Fatalf("case %s: round %d after %d of %d", c.CaseKey, r.Round, last, n)
				}
				last = r.Round
				got[c.Benchmark] = append(got[c.Benchmark], r.Samples...)
			}
		}
		if diff := cmp.Diff(want, got); len(merged.Rounds) != n || diff != "" {
			rt.Fatalf("%d rounds of %d (-want +got):\n%s", len(merged.Rounds), n, diff)
		}
	})
}

// TestLabel says what a name is, for any text.
func TestLabel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.Rune(), 200, 400, -1)).Draw(rt, "text")
		got := label(s)
		if len(got) > maxName || label(got) != got {
			rt.Fatalf("label(%q) = %q: %d bytes, and again %q", s, got, len(got), label(got))
		}
		if v := decimal(math.Trunc(rapid.Float64Range(-1e14, 1e14).Draw(rt, "whole"))); strings.ContainsAny(v, ".e") {
			rt.Fatalf("a whole number is written %s", v)
		}
	})
}
