package measure_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/measure"
)

// The format is made for runs of ten million samples: written and read back
// within 256 MiB, at 100 MB/s of JSON or more on a quiet machine (docs/lab/record.md).
// A shared machine has no absolute speed, so the lab compares with encoding/json on the
// same numbers in the same minute.
const (
	bigCases, bigRounds, bigSamples = 1000, 10, 1000
	memoryLimit                     = 256 << 20
	// Times encoding/json, which does neither hash nor sync. On an idle machine reading is
	// three times and writing twice as fast; the rest is left to other programs.
	readFloor, writeFloor = 1.3, 0.8
)

func TestTenMillionSamples_FitInMemory(t *testing.T) {
	if dir := os.Getenv("PAWL_BIG_RECORD"); dir != "" {
		bigRecord(t, dir, func(_ string, _ float64, _ func(*testing.T, measure.Samples) float64, _ int64, f func()) { f() })
		return
	}
	bigProcess(t)
}

func TestTenMillionSamples_Speed(t *testing.T) {
	if os.Getenv("PAWL_LAB") == "" {
		t.Skip("measures time: make lab PAGE=record")
	}
	if dir := os.Getenv("PAWL_BIG_RECORD"); dir != "" {
		bigRecord(t, dir, compareJSON(t))
		return
	}
	bigProcess(t)
}

// bigProcess runs the test in a process of its own, because the kernel reports peak memory
// per process.
func bigProcess(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("writes 200 MB")
	}
	if testrun.Race { // it changes both memory and speed
		t.Skip("nightly test: run `make nightly`")
	}
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), "PAWL_BIG_RECORD="+t.TempDir(), "GOMEMLIMIT=192MiB")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, "MB/s") {
			t.Log(strings.TrimSpace(line))
		}
	}
	peak := peakMemory(t, cmd)
	t.Logf("peak memory %d MiB", peak>>20)
	if peak > memoryLimit {
		t.Errorf("peak memory is %d MiB, want at most %d MiB", peak>>20, memoryLimit>>20)
	}
}

// step calls f, which processes size bytes and has to be at least floor times as fast as
// other.
type step func(what string, floor float64, other func(*testing.T, measure.Samples) float64, size int64, f func())

// compareJSON returns a step that takes the best of three calls, each between two calls of
// encoding/json, so that a burst of load does not count.
func compareJSON(t *testing.T) step {
	t.Helper()
	return func(what string, floor float64, other func(*testing.T, measure.Samples) float64, size int64, f func()) {
		samples := bigSeries(rand.New(rand.NewPCG(7, 7)), 500_000)
		var top, times, beside float64
		for range 3 {
			before := other(t, samples)
			began := time.Now()
			f()
			speed := float64(size) / 1e6 / time.Since(began).Seconds()
			usual := (before + other(t, samples)) / 2
			top = max(top, speed)
			if speed/usual > times {
				times, beside = speed/usual, usual
			}
		}
		t.Logf("%s: %.0f MB/s, %.1f times the %.0f MB/s of encoding/json", what, top, times, beside)
		if times < floor {
			t.Errorf("%s: %.2f times as fast as encoding/json, want %.1f", what, times, floor)
		}
	}
}

func bigRecord(t *testing.T, dir string, do step) {
	t.Helper()
	journal, doc := filepath.Join(dir, "big.journal"), filepath.Join(dir, "big.json")
	began := time.Now()
	size := writeBigJournal(t, journal)
	t.Logf("journal written, every round synced: %.0f MB/s", float64(size)/1e6/time.Since(began).Seconds())

	do("document made from the journal", writeFloor, writeJSON, size, func() {
		f, err := os.Create(doc)
		must(t, err)
		j, err := os.Open(journal)
		must(t, err)
		_, err = measure.WriteJournal(f, j)
		must(t, errors.Join(err, f.Close(), j.Close()))
	})
	count := func(path string) func() {
		return func() {
			n := 0
			_, err := measure.ScanFile(path, func(_ *measure.Case, r measure.CaseRound) error {
				n += len(r.Samples)
				return nil
			})
			must(t, err)
			if want := bigCases * bigRounds * bigSamples; n != want {
				t.Fatalf("%d samples read, want %d", n, want)
			}
		}
	}
	do("document read, digest checked", readFloor, readJSON, size, count(doc))
	do("journal read", readFloor, readJSON, size, count(journal))
	must(t, os.Remove(doc))

	packed, _, err := measure.Finish(journal, doc)
	must(t, err)
	if !strings.HasSuffix(packed, ".zst") {
		t.Errorf("a document of %d MB was not compressed", size/1e6)
	}
	do("compressed document read, digest checked", readFloor, readJSON, size, count(packed))
	do("document read whole into memory", 0, readJSON, size, func() {
		run, err := measure.Load(packed)
		must(t, err)
		if n := len(run.Cases[bigCases-1].Rounds); n != bigRounds {
			t.Fatalf("last case has %d rounds, want %d", n, bigRounds)
		}
	})
}

// writeJSON is how fast the standard library writes such samples, in MB/s.
func writeJSON(t *testing.T, samples measure.Samples) float64 {
	t.Helper()
	began := time.Now()
	b, err := json.Marshal([]float64(samples))
	must(t, err)
	return float64(len(b)) / 1e6 / time.Since(began).Seconds()
}

// readJSON is how fast it reads them.
func readJSON(t *testing.T, samples measure.Samples) float64 {
	t.Helper()
	b, err := json.Marshal([]float64(samples))
	must(t, err)
	began := time.Now()
	var back []float64
	must(t, json.Unmarshal(b, &back))
	return float64(len(b)) / 1e6 / time.Since(began).Seconds()
}

// bigSeries are samples as devices give them: half from a nanosecond clock,
// half from device events in single precision.
func bigSeries(rng *rand.Rand, n int) measure.Samples {
	s := make(measure.Samples, n)
	for i := range s {
		v := 1e5 + rng.NormFloat64()*2e3
		if s[i] = float64(int(v)); i%2 == 1 {
			s[i] = float64(float32(v))
		}
	}
	return s
}

func writeBigJournal(t *testing.T, path string) int64 {
	t.Helper()
	run := example()
	j, err := measure.CreateJournal(path, run.Header, nil)
	must(t, err)
	cases := make([]measure.Case, bigCases)
	for i := range cases {
		cases[i] = measure.Case{CaseKey: measure.CaseKey{Benchmark: "b", Config: fmt.Sprintf("N%d", i), Implementation: "candidate"}, Unit: "ns"}
	}
	must(t, j.AddCases(cases))
	rng := rand.New(rand.NewPCG(7, 7))
	results := make([]measure.Result, bigCases)
	for i := range results {
		s := bigSeries(rng, bigSamples)
		results[i] = measure.Result{Case: cases[i].CaseKey, Round: measure.CaseRound{Samples: s}}
	}
	for r := range bigRounds {
		must(t, j.AddRound(measure.Round{Index: r}, results))
	}
	must(t, j.End(run.Ending))
	info, err := os.Stat(path)
	must(t, err)
	return info.Size()
}

func peakMemory(t *testing.T, cmd *exec.Cmd) int64 {
	t.Helper()
	peak, err := maxRSS(cmd.ProcessState)
	must(t, err)
	return peak
}

func TestSamplesKeepEveryBit(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	want := measure.Samples{0, 1, 1<<53 - 1, 1 << 53, 0.1, 1e-300, 1.5e300, 5e-324, 123456789012345, 1234567890123456}
	for range 5000 {
		want = append(want, rng.ExpFloat64()*1e5, float64(rng.Uint32()), float64(float32(rng.ExpFloat64()*1e5)), math.Round(rng.ExpFloat64()*1e6)/1e3)
	}
	b, err := want.MarshalJSON()
	must(t, err)
	var got measure.Samples
	must(t, got.UnmarshalJSON(b))
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("sample %d: wrote %v, read %v", i, strconv.FormatFloat(want[i], 'g', -1, 64), got[i])
		}
	}
}
