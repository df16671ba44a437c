package samplecodec_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/kernel/harness/adapter"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/measure/samplecodec"
)

// sameBits compares numbers as they are stored: NaN is itself, and -0 is not 0.
var sameBits = cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })

// kinds are what clocks and harnesses give.
var kinds = map[string]func(*rapid.T) float64{
	"whole nanoseconds": func(t *rapid.T) float64 { return float64(rapid.Int64Range(0, 1e12).Draw(t, "ns")) },
	"steps of 32":       func(t *rapid.T) float64 { return 32 * float64(rapid.Int64Range(1e3, 2e3).Draw(t, "steps")) },
	"decimals":          func(t *rapid.T) float64 { return float64(rapid.Int64Range(0, 1e9).Draw(t, "n")) / 1e4 },
	"single precision":  func(t *rapid.T) float64 { return float64(rapid.Float32().Draw(t, "f")) },
	"milliseconds in single precision, as nanoseconds": func(t *rapid.T) float64 {
		return float64(float32(rapid.Int64Range(1, 1e6).Draw(t, "n"))/1e5) * 1e6
	},
	"anything": func(t *rapid.T) float64 { return math.Float64frombits(rapid.Uint64().Draw(t, "bits")) },
	"edges": func(t *rapid.T) float64 {
		return rapid.SampledFrom([]float64{
			0, math.Copysign(0, -1), 1, -1, 1 << 53, -(1 << 53), 1<<53 - 1, 1 << 62, 1e300, -1e300, math.SmallestNonzeroFloat64, math.MaxFloat64,
			math.Inf(1), math.Inf(-1), math.NaN(), 0.1, 1e-9, 1e9 + 0.5, 9007199254740.993,
		}).Draw(t, "edge")
	},
}

func drawSeries(t *rapid.T, name string) measure.Samples {
	switch n := rapid.IntRange(-1, 40).Draw(t, name); n {
	case -1:
		return nil
	case 0:
		return measure.Samples{}
	default:
		one := kinds[rapid.SampledFrom([]string{
			"whole nanoseconds", "steps of 32", "decimals", "single precision",
			"milliseconds in single precision, as nanoseconds", "anything", "edges",
		}).Draw(t, "kind")]
		s := make(measure.Samples, n)
		for i := range s {
			s[i] = one(t)
		}
		return s
	}
}

func drawRun(t *rapid.T) *measure.Run {
	run := &measure.Run{Digest: rapid.String().Draw(t, "digest")}
	run.ID = rapid.String().Draw(t, "id")
	for range rapid.IntRange(0, 2).Draw(t, "calibrations") {
		run.Calibration = append(run.Calibration, measure.Calibration{Kernel: "k", Samples: drawSeries(t, "calibration")})
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "cases") {
		c := measure.Case{CaseKey: measure.CaseKey{Benchmark: fmt.Sprint(i)}}
		for j := range rapid.IntRange(0, 3).Draw(t, "rounds") {
			r := measure.CaseRound{
				Round: j, Warmup: drawSeries(t, "warmup"), Samples: drawSeries(t, "samples"),
				Wall: drawSeries(t, "wall"), CPU: drawSeries(t, "cpu"), Clocks: drawSeries(t, "clocks"),
			}
			if rapid.Bool().Draw(t, "outside") {
				r.Outside = &measure.OutsideTiming{Clock: measure.TimerWall, Runs: []int{1}, Times: drawSeries(t, "times"), Adjacent: drawSeries(t, "beside")}
			}
			c.Rounds = append(c.Rounds, r)
		}
		run.Cases = append(run.Cases, c)
	}
	return run
}

func TestJoinGivesBackWhatSplitTook(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		run := drawRun(t)
		before := *run
		stripped, data, err := samplecodec.Split(run)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(&before, run, sameBits); diff != "" {
			t.Fatalf("Split changed the run:\n%s", diff)
		}
		for _, c := range stripped.Cases {
			for _, r := range c.Rounds {
				if n := len(r.Samples) + len(r.Warmup) + len(r.Wall) + len(r.CPU) + len(r.Clocks); n != 0 {
					t.Fatalf("%d samples are left", n)
				}
			}
		}
		stripped.Digest = "another" // what is kept of the record has its own
		back, err := samplecodec.Join(stripped, data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(run, back, sameBits); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	})
}

// A whole record comes back as the same file, to the byte.
func TestRecordsComeBack(t *testing.T) {
	run := testRun(4, 100)
	var want bytes.Buffer
	if err := measure.Write(&want, run); err != nil {
		t.Fatal(err)
	}
	stripped, data, err := samplecodec.Split(run)
	if err != nil {
		t.Fatal(err)
	}
	var kept, got bytes.Buffer
	if err := measure.Write(&kept, stripped); err != nil {
		t.Fatal(err)
	}
	var rounds []measure.CaseRound
	read, err := measure.Scan(&kept, func(_ *measure.Case, r measure.CaseRound) error {
		rounds = append(rounds, r)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range read.Cases {
		n := len(run.Cases[i].Rounds)
		read.Cases[i].Rounds, rounds = rounds[:n], rounds[n:]
	}
	back, err := samplecodec.Join(read, data)
	if err != nil {
		t.Fatal(err)
	}
	if err := measure.Write(&got, back); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(want.Bytes(), got.Bytes()) {
		t.Errorf("want\n%s\ngot\n%s", want.Bytes(), got.Bytes())
	}
}

// testRun has samples as a clock gives them: around a level, in steps.
func testRun(rounds, count int) *measure.Run {
	random := rand.New(rand.NewPCG(1, 2))
	run := &measure.Run{}
	run.Schema, run.ID = measure.SchemaRun, "01JCPT3Y3JQK6Z0Q8W3V5N7D9F"
	c := measure.Case{CaseKey: measure.CaseKey{Benchmark: "b", Implementation: measure.Candidate}, Unit: "ns"}
	for i := range rounds {
		r := measure.CaseRound{Round: i, Samples: measure.Samples{}}
		for range count {
			r.Samples = append(r.Samples, 300_000+math.Round(random.NormFloat64()*3000))
			r.Clocks = append(r.Clocks, 1500)
		}
		c.Rounds = append(c.Rounds, r)
	}
	run.Cases = []measure.Case{c}
	return run
}

func TestJoinRefuses(t *testing.T) {
	run := testRun(2, 10)
	stripped, data, err := samplecodec.Split(run)
	if err != nil {
		t.Fatal(err)
	}
	other, fewer, more := *stripped, *stripped, *stripped
	other.ID = "01JCPT3Y3JQK6Z0Q8W3V5N7D9G"
	fewer.Cases = []measure.Case{{Rounds: stripped.Cases[0].Rounds[:1]}}
	more.Cases = append(more.Cases[:1:1], stripped.Cases[0])
	for name, tc := range map[string]struct {
		run  *measure.Run
		data []byte
		want string
	}{
		"nothing":            {stripped, nil, "does not start with pawl.samples/v1"},
		"something else":     {stripped, []byte("PK\x03\x04"), "does not start with pawl.samples/v1"},
		"only the beginning": {stripped, data[:16], "does not start"},
		"a later packing":    {stripped, append(data[:16:16], 9), "too old"},
		"cut off":            {stripped, data[:len(data)-1], "unpack samples"},
		"not compressed":     {stripped, append(data[:17:17], "hello"...), "unpack samples"},
		"another run":        {&other, data, "belong to another run"},
		"fewer rounds":       {&fewer, data, "extra bytes"},
		"more rounds":        {&more, data, "end early"},
		"samples twice":      {run, data, "already has samples"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := samplecodec.Join(tc.run, tc.data); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
	if _, err := samplecodec.Join(&other, data); !errors.Is(err, samplecodec.ErrWrongRun) {
		t.Error("it does not say that the run is another")
	}
}

const magic = "pawl.samples/v1\n"

// A small file that unpacks to a large one is refused before the large one is there.
func TestBombs(t *testing.T) {
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	bomb := z.EncodeAll(make([]byte, 16<<20), append([]byte(magic), 1))
	wide, err := zstd.NewWriter(nil, zstd.WithWindowSize(128<<20), zstd.WithSingleSegment(false))
	if err != nil {
		t.Fatal(err)
	}
	var far bytes.Buffer
	far.WriteString(magic + "\x01")
	wide.Reset(&far)
	for range 20 {
		if _, err := wide.Write(make([]byte, 1<<20)); err != nil {
			t.Fatal(err)
		}
	}
	if err := wide.Close(); err != nil {
		t.Fatal(err)
	}
	stripped, _, err := samplecodec.Split(testRun(1, 1))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"ratio": bomb, "window": far.Bytes()} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if _, err := samplecodec.Join(stripped, data); err == nil {
				t.Fatal("it was unpacked")
			}
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > 24<<20 {
				t.Errorf("%d bytes were allocated to refuse %d", n, len(data))
			}
		})
	}
}

// What Split makes is never taken for a bomb, however alike the samples are.
func TestConstantSamplesAreNoBomb(t *testing.T) {
	run := testRun(1, 1)
	run.Cases[0].Rounds[0].Samples = make(measure.Samples, 1<<18)
	stripped, data, err := samplecodec.Split(run)
	if err != nil {
		t.Fatal(err)
	}
	back, err := samplecodec.Join(stripped, data)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(back.Cases[0].Rounds[0].Samples); n != 1<<18 {
		t.Errorf("%d samples came back", n)
	}
}

// TestRecordedSize is what docs/reference/samples.md says of real samples.
func TestRecordedSize(t *testing.T) {
	root := os.Getenv("PAWL_DATA")
	if root == "" {
		t.Skip("PAWL_DATA names no folder of recorded data")
	}
	files, err := filepath.Glob(filepath.Join(root, "l4-sdpa", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	all := &measure.Run{}
	count := 0
	for _, path := range files {
		if name := filepath.Base(path); name == "env.json" || name == "sweep_summary.json" { // which repeats the others
			continue
		}
		run, err := adapter.ReadFile(t.Context(), path, "", adapter.Options{})
		if err != nil {
			t.Fatal(err)
		}
		all.Cases = append(all.Cases, run.Cases...)
	}
	for _, c := range all.Cases {
		for _, r := range c.Rounds {
			count += len(r.Samples)
		}
	}
	stripped, data, err := samplecodec.Split(all)
	if err != nil {
		t.Fatal(err)
	}
	back, err := samplecodec.Join(stripped, data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(all, back, sameBits); diff != "" {
		t.Fatal(diff)
	}
	each := float64(len(data)) / float64(count)
	t.Logf("%d samples in %d bytes: %.2f each", count, len(data), each)
	if each > 2 {
		t.Errorf("%.2f bytes a sample: the page says fewer than 2", each)
	}
}

func FuzzJoin(f *testing.F) {
	for _, run := range []*measure.Run{testRun(2, 10), testRun(1, 1)} {
		_, data, err := samplecodec.Split(run)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	id := "\x1a01JCPT3Y3JQK6Z0Q8W3V5N7D9F\x00"
	f.Add([]byte(magic + "\x00" + id + "\x00\x00" + "\x01\x00\x00\x02\x01\x02\x02" + "\x03\x01\x00\x05" + "\x02\x05\x06\x01\x01\x02" + "\x00\x01"))
	stripped, _, err := samplecodec.Split(testRun(1, 10))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		run, err := samplecodec.Join(stripped, data)
		if err != nil {
			return
		}
		again, packed, err := samplecodec.Split(run)
		if err != nil {
			t.Fatalf("joined, and cannot be split: %v", err)
		}
		back, err := samplecodec.Join(again, packed)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(run, back, sameBits); diff != "" {
			t.Fatal(diff)
		}
	})
}

func BenchmarkSplit(b *testing.B) {
	run := testRun(100, 1000)
	b.SetBytes(8 * 2 * 100_000)
	for b.Loop() {
		if _, _, err := samplecodec.Split(run); err != nil {
			b.Fatal(err)
		}
	}
}

// Who has little room says so, and is told before it is taken.
func TestJoinAtMost(t *testing.T) {
	run := &measure.Run{Cases: []measure.Case{{Rounds: []measure.CaseRound{{Samples: measure.Samples{}}}}}}
	for i := range 10_000 {
		r := &run.Cases[0].Rounds[0]
		r.Samples = append(r.Samples, float64(1000+i*i%977))
	}
	for name, pack := range map[string]func([]byte) []byte{
		"packed": func(data []byte) []byte { return data },
		"stored": func(data []byte) []byte {
			const head = len("pawl.samples/v1\n")
			z, err := zstd.NewReader(nil)
			if err != nil {
				t.Fatal(err)
			}
			defer z.Close()
			payload, err := z.DecodeAll(data[head+1:], nil)
			if err != nil {
				t.Fatal(err)
			}
			return append(append(bytes.Clone(data[:head]), 0), payload...)
		},
	} {
		stripped, data, err := samplecodec.Split(run)
		if err != nil {
			t.Fatal(err)
		}
		data = pack(data)
		if back, err := samplecodec.JoinLimited(stripped, data, 40_000); err != nil || len(back.Cases[0].Rounds[0].Samples) != 10_000 {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := samplecodec.JoinLimited(stripped, data, 9_000); !errors.Is(err, samplecodec.ErrTooLarge) {
			t.Errorf("%s, without room: %v", name, err)
		}
	}
}
