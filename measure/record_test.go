package measure_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/measure"
)

// example is a small run that uses every field of the format.
func example() *measure.Run {
	at := time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC)
	state := func(temp float64, reasons gpu.Reasons) *gpu.State {
		return &gpu.State{
			At: at, SMClockMHz: 1500, MemoryClockMHz: 6251, TemperatureC: temp, PowerW: 61.5, PowerCapW: 72,
			Reasons: reasons, ECC: "on", MIG: "off", Persistence: "on",
			Processes: []gpu.Process{{PID: 7, Name: "neighbour", MemoryBytes: 1 << 20}},
			Governor:  "performance", Turbo: "off", Load1: 0.25,
		}
	}
	round := 1
	return &measure.Run{
		Header: measure.Header{
			Schema: measure.SchemaRun, ID: "01JNGBMS0000000000000000AB", Created: at, Pawl: "0.1.0",
			Source: measure.Measured,
			Suite:  measure.SuiteRef{Name: "attention", Path: "pawl.yaml", Digest: "sha256:aa"},
			Device: gpu.Identity{
				Kind: gpu.NVIDIA, Name: "NVIDIA L4", UUID: "GPU-1", Parent: "GPU-0", Index: 1, VBIOS: "95.04",
				Driver: "570.124.06", CUDA: "12.8", ComputeCapability: "8.9", Units: 58, MemoryBytes: 24 << 30, CacheBytes: 48 << 20,
			},
			Testbed: measure.Testbed{
				Kind: gpu.NVIDIA, Device: "NVIDIA L4", Driver: "570.124.06", PowerCapW: 72, ECC: "on", MIG: "off",
				Clocks: gpu.ClockPolicy{Mode: gpu.ClocksFixed, MHz: 1500},
			},
			Environment: measure.Environment{
				Host: "bench-1", OS: "linux 6.1", Arch: "amd64", CPU: "a CPU", Cores: 2, Memory: 8 << 30,
				Vars: map[string]string{"CUDA_MODULE_LOADING": "EAGER"},
			},
			Implementations: []measure.Implementation{
				{
					Name: "candidate", Commit: "c0ffee", Dirty: true,
					Toolchain: []measure.Tool{{Name: "nvcc", Version: "12.4"}},
					Build:     measure.BuildFacts{Command: "make", Seconds: 3.5, Outputs: []measure.FileDigest{{Path: "harness", Digest: "sha256:bb"}}},
					Harness:   measure.Harness{Command: "./harness", SDK: "pawl.h 1.0.0", Device: "NVIDIA L4", Runtime: "CUDA 12.4", Files: []measure.FileDigest{{Path: "weights.bin", Digest: "sha256:cc"}}},
					Digest:    "sha256:dd",
				},
				{Name: "base", Commit: "beef", Ref: "HEAD~1", Digest: "sha256:ee"},
			},
			Plan: measure.Plan{Seed: 1<<64 - 1, Growth: []int{4, 8}, Turns: true, Samples: 3, Warmup: 2, Seconds: 600, Dollars: 0.1, PricePerHour: 0.8},
		},
		Calibration: []measure.Calibration{{When: "open", Kernel: "pawl.calibration", Timer: measure.TimerDevice, Samples: measure.Samples{200, 201.5}}},
		Rounds: []measure.Round{
			{
				Index: 0, Seed: 42, Order: []string{"base", "candidate"}, Cases: []string{"attention/B32"},
				Sides: []measure.Side{{Implementation: "base", Started: at, Seconds: 1.5, Before: state(60, 0), After: state(64, gpu.SWPowerCap)}},
			},
			{Index: 1, Seed: 43, Order: []string{"candidate", "base"}, Dropped: "hw_thermal", Sides: []measure.Side{{Implementation: "candidate", Started: at, Error: "crashed"}}},
		},
		Cases: []measure.Case{
			{
				CaseKey: measure.CaseKey{Benchmark: "attention", Config: "B32", Cache: measure.Cold, Implementation: "candidate"},
				Params:  map[string]any{"B": 32.0, "dtype": "fp16"}, Unit: "ns", Gate: true, Timer: measure.TimerDevice, Flops: 1e9, Bytes: 1e6,
				Rounds: []measure.CaseRound{
					{Round: 0, Batch: 4, SamplesPerTurn: 3, Quantum: 500, Warmup: measure.Samples{300, 250}, Samples: measure.Samples{60416, 60416.001826524734, 59392}, Wall: measure.Samples{70000, 70001, 70002}, CPU: measure.Samples{1, 2, 3}, Clocks: measure.Samples{1500, 1495, 1500}},
					{Round: 1, Unsteady: true, Note: "launches were not held back", Samples: measure.Samples{1e-7, 1e22, 3}},
				},
			},
			{CaseKey: measure.CaseKey{Benchmark: "attention", Config: "B32", Cache: measure.Cold, Implementation: "base"}, Unit: "ns", Rounds: []measure.CaseRound{{Round: 0, Error: "out of memory", Samples: measure.Samples{}}}},
			{
				CaseKey: measure.CaseKey{Benchmark: "alloc", Metric: "allocs/op", Implementation: "candidate"}, Unit: "allocs/op", Better: measure.Higher, NoSamples: true,
				Summary: &measure.Summary{Count: 5, Mean: 2, Median: 2, Min: 1, Max: 3, Stddev: 0.5},
			},
		},
		Ending: measure.Ending{
			End:      measure.End{State: measure.Complete, Reason: "all rounds measured", Seconds: 12.5, Dollars: 0.0028},
			Warnings: []measure.Warning{{Code: "temperature", Message: "81 degrees", Case: "attention/B32@cold", Round: &round}},
		},
	}
}

// writeJournal measures the example again, as it were, into a journal.
func writeJournal(t *testing.T, path string, run *measure.Run, end bool) {
	t.Helper()
	j, err := measure.CreateJournal(path, run.Header, nil)
	must(t, err)
	must(t, j.AddCases(run.Cases))
	for _, c := range run.Calibration {
		must(t, j.AddCalibration(c))
	}
	for _, r := range run.Rounds {
		var results []measure.Result
		for _, c := range run.Cases {
			for _, cr := range c.Rounds {
				if cr.Round == r.Index {
					results = append(results, measure.Result{Case: c.CaseKey, Round: cr})
				}
			}
		}
		must(t, j.AddRound(r, results))
	}
	if end {
		must(t, j.End(run.Ending))
	}
}

var must = testrun.Must

func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	want := example()
	plain, packed, journal := filepath.Join(dir, "run.json"), filepath.Join(dir, "run.json.zst"), filepath.Join(dir, "other.journal")
	must(t, measure.Save(plain, want))
	must(t, measure.Save(packed, want))
	writeJournal(t, journal, want, true)
	finished := filepath.Join(dir, "finished.json")
	open := map[string]string{"document": plain, "compressed": packed, "journal": journal}
	for name, path := range open {
		t.Run(name, func(t *testing.T) { equalRuns(t, path, want) })
	}
	path, _, err := measure.Finish(journal, finished)
	must(t, err)
	equalRuns(t, path, want)
	if _, err := os.Stat(journal); err == nil {
		t.Error("the journal is still there after Finish")
	}
	a, b := read(t, plain), read(t, finished)
	if !bytes.Equal(a, b) {
		t.Errorf("a run has two documents, depending on where it comes from:\n%s", cmp.Diff(string(a), string(b)))
	}
}

func equalRuns(t *testing.T, path string, want *measure.Run) {
	t.Helper()
	got, err := measure.Load(path)
	must(t, err)
	got.Digest = ""
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", filepath.Base(path), diff)
	}
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	must(t, err)
	return b
}

// The files under testdata/v1 were written once and must be readable for ever:
// what a user recorded today is evidence in five years.
func TestVersion1IsReadForEver(t *testing.T) {
	for _, name := range []string{"run.json", "run.json.zst", "run.journal", "reordered.json"} {
		t.Run(name, func(t *testing.T) { equalRuns(t, filepath.Join("testdata/v1", name), example()) })
	}
	t.Run("bytes", func(t *testing.T) {
		var b bytes.Buffer
		must(t, measure.Write(&b, example()))
		if diff := cmp.Diff(string(read(t, "testdata/v1/run.json")), b.String()); diff != "" {
			t.Errorf("the layout of a document changed:\n%s", diff)
		}
	})
}

func TestUnknownFieldsAreAccepted(t *testing.T) {
	doc := string(read(t, "testdata/v1/run.json"))
	doc = doc[:strings.LastIndex(doc, "\"digest\"")] + "\"end_of\":\"file\"}"
	doc = strings.Replace(doc, `"samples":[60416`, `"humidity":[1,2],"samples":[60416`, 1)
	doc = strings.Replace(doc, `"testbed":{`, `"testbed":{"rack":{"n":4},`, 1)
	doc = strings.Replace(doc, `{"benchmark":"attention"`, `{"owner":null,"benchmark":"attention"`, 1)
	path := filepath.Join(t.TempDir(), "new.json")
	must(t, os.WriteFile(path, []byte(doc), 0o644))
	equalRuns(t, path, example())
}

func TestReadersRefuse(t *testing.T) {
	good := string(read(t, "testdata/v1/run.json"))
	journal := string(read(t, "testdata/v1/run.journal"))
	lines := strings.SplitAfter(journal, "\n")
	tests := []struct{ name, content, want string }{
		{"another kind of file", `{"benchmarks":[]}`, "not a pawl record"},
		{"an array", `[1]`, "not a pawl record"},
		{"nothing", ``, "not a pawl record"},
		{"a later version", strings.Replace(good, "pawl.run/v1", "pawl.run/v2", 1), "use a newer pawl"},
		{"one changed sample", strings.Replace(good, "59392", "59391", 1), "changed after it was written"},
		{"half a document", good[:len(good)/2], "run record"},
		{"two documents", good + good, "data follows its end"},
		{"a number that is none", strings.Replace(good, "59392", `"x"`, 1), "not a number"},
		{"a number too large", strings.Replace(good, "59392", "1e999", 1), "out of range"},
		{"a damaged line in the middle", lines[0] + lines[1] + "{broken\n" + strings.Join(lines[2:], ""), "damaged"},
		{"a case that was never declared", lines[0] + `{"record":"round","round":{"round":0},"results":[{"case":9,"data":{}}]}` + "\n", "never declared"},
		{"a journal cut in its first line", lines[0][:40], "the journal has no first line"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "run.json")
			must(t, os.WriteFile(path, []byte(tt.content), 0o644))
			_, err := measure.Load(path)
			if err == nil || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), "run.json") {
				t.Errorf("have %v, want an error that names the file and says %q", err, tt.want)
			}
		})
	}
}

// Whatever a crash leaves of the journal's last line, the rounds before it are read.
func TestJournalCutAnywhere(t *testing.T) {
	dir := t.TempDir()
	whole := read(t, "testdata/v1/run.journal")
	start := bytes.IndexByte(whole, '\n') + 1
	rng := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		cut := start + rng.IntN(len(whole)-start)
		torn := append(bytes.Clone(whole[:cut]), make([]byte, rng.IntN(3)*100)...)
		path := filepath.Join(dir, "run.journal")
		must(t, os.WriteFile(path, torn, 0o644))
		run, err := measure.Load(filepath.Join(dir, "run.json")) // by the name the document was to get
		if err != nil {
			t.Fatalf("cut at byte %d: %v", cut, err)
		}
		want := 0
		for line := range bytes.Lines(whole[:cut]) {
			if bytes.HasPrefix(line, []byte(`{"record":"round"`)) && json.Valid(line) {
				want++
			}
		}
		if len(run.Rounds) != want {
			t.Errorf("cut at byte %d: %d rounds, want the %d whole ones", cut, len(run.Rounds), want)
		}
		if !json.Valid(whole[bytes.LastIndex(whole[:cut], []byte("\n"))+1:cut]) && run.End.State != measure.Interrupted {
			t.Errorf("cut at byte %d: state %q, want %q", cut, run.End.State, measure.Interrupted)
		}
	}
}

func TestRecordRefusesWhatIsNoNumber(t *testing.T) {
	run := example()
	zero := 0.0
	run.Cases[0].Rounds[0].Samples[1] = zero / zero
	if err := measure.Write(&bytes.Buffer{}, run); err == nil {
		t.Error("a document with NaN was written")
	}
	j, err := measure.CreateJournal(filepath.Join(t.TempDir(), "run.journal"), run.Header, nil)
	must(t, err)
	must(t, j.AddCases(run.Cases))
	err = j.AddRound(run.Rounds[0], []measure.Result{{Case: run.Cases[0].CaseKey, Round: run.Cases[0].Rounds[0]}})
	if err == nil || !strings.Contains(err.Error(), "attention/B32@cold/candidate") {
		t.Errorf("NaN in a journal: %v, want an error that names the case", err)
	}
}

func TestReformattedDocumentIsReadWithWarning(t *testing.T) {
	doc := bytes.ReplaceAll(read(t, "testdata/v1/run.json"), []byte(",\n"), []byte(", \n "))
	path := filepath.Join(t.TempDir(), "run.json")
	must(t, os.WriteFile(path, doc, 0o644))
	run, err := measure.Load(path)
	must(t, err)
	if n := len(run.Warnings); n != 2 || run.Warnings[1].Code != "digest_unchecked" {
		t.Errorf("warnings: %+v, want digest_unchecked", run.Warnings)
	}
}

func fuzzSeed(f *testing.F, path string) []byte {
	f.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	return b
}

// Every field of a round is written and read: its reader and writer name the
// fields by hand, so a new one is easily forgotten.
func TestEveryFieldOfARoundIsKept(t *testing.T) {
	run := example()
	run.Cases = run.Cases[:1]
	var want measure.CaseRound
	v := reflect.ValueOf(&want).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Int:
			f.SetInt(int64(i + 2))
		case reflect.Float64:
			f.SetFloat(float64(i) + 0.5)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.String:
			f.SetString(v.Type().Field(i).Name)
		case reflect.Slice:
			f.Set(reflect.ValueOf(measure.Samples{float64(i + 1), 2.5}))
		case reflect.Pointer:
			if f.Type().Elem().Kind() == reflect.Int {
				f.Set(reflect.ValueOf(new(int)))
				continue
			}
			f.Set(reflect.ValueOf(&measure.OutsideTiming{Clock: measure.TimerCPU, Runs: []int{3, 9}, Times: measure.Samples{10, 31}}))
		default:
			t.Fatalf("field %s is of a kind this test does not know", v.Type().Field(i).Name)
		}
	}
	run.Cases[0].Rounds = []measure.CaseRound{want}
	path := filepath.Join(t.TempDir(), "run.json")
	must(t, measure.Save(path, run))
	got, err := measure.Load(path)
	must(t, err)
	if diff := cmp.Diff(want, got.Cases[0].Rounds[0]); diff != "" {
		t.Error(diff)
	}
}

// What was secret during a run is told at its end, in both forms of a record.
func TestSecretIsTold(t *testing.T) {
	run := example()
	run.Secret, run.Trust = "18446744073709551615", measure.Checked
	run.Definition = &measure.Definition{Changed: []string{"harness.c"}}
	dir := t.TempDir()
	must(t, measure.Save(filepath.Join(dir, "run.json"), run))
	writeJournal(t, filepath.Join(dir, "run.journal"), run, true)
	for _, name := range []string{"run.json", "run.journal"} {
		got, err := measure.Load(filepath.Join(dir, name))
		must(t, err)
		if got.Secret != run.Secret || got.Trust != run.Trust || !cmp.Equal(got.Definition, run.Definition) {
			t.Errorf("%s: %q, %q, %+v", name, got.Secret, got.Trust, got.Definition)
		}
	}
}
