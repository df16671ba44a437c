package adapter

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"testing/fstest"
)

// Each adapter has a fuzz target of its own: whatever the bytes, reading ends in
// an error or in a run that is wholesome. The fixtures are large, so minimising must
// be held short: go test -fuzz FuzzGo -fuzzminimizetime 10x.

func FuzzNVBench(f *testing.F) {
	for _, doc := range seeds(f, "nvbench") {
		f.Add(doc, twoFloats)
	}
	f.Fuzz(func(t *testing.T, doc, sidecar []byte) {
		files := fstest.MapFS{"r.json": {Data: doc}}
		for _, name := range []string{"jsonbin.json-bin/0.bin", "jsonbin.json-freqs-bin/0.bin", "two_devices.json-bin/1.bin", "0.bin", "bin/0.bin"} {
			files[name] = &fstest.MapFile{Data: sidecar}
		}
		run, err := Read(t.Context(), Source{Path: "r.json", Files: files}, Options{Format: "nvbench"})
		if err == nil {
			wholesome(t, run)
		}
	})
}

func FuzzGoogleBenchmark(f *testing.F) { fuzz(f, "google-benchmark") }
func FuzzPytestBenchmark(f *testing.F) { fuzz(f, "pytest-benchmark") }
func FuzzHyperfine(f *testing.F)       { fuzz(f, "hyperfine") }
func FuzzGo(f *testing.F)              { fuzz(f, "go") }
func FuzzTriton(f *testing.F)          { fuzz(f, "triton") }
func FuzzSDPA(f *testing.F)            { fuzz(f, "sdpa") }
func FuzzVLLM(f *testing.F)            { fuzz(f, "vllm") }
func FuzzSGLang(f *testing.F)          { fuzz(f, "sglang") }
func FuzzTritonBench(f *testing.F)     { fuzz(f, "tritonbench") }
func FuzzASV(f *testing.F)             { fuzz(f, "asv") }
func FuzzBMF(f *testing.F)             { fuzz(f, "bmf") }
func FuzzNCCL(f *testing.F)            { fuzz(f, "nccl-tests") }
func FuzzSamples(f *testing.F)         { fuzz(f, "samples") }
func FuzzLines(f *testing.F)           { fuzz(f, "lines") }

// FuzzCriterion gives both of Criterion's files, as a file and as a folder.
func FuzzCriterion(f *testing.F) {
	for _, doc := range seeds(f, "criterion") {
		f.Add(doc, []byte(`{"group_id":"g","function_id":"f","value_str":"1024","throughput":{"Bytes":4}}`))
	}
	f.Fuzz(func(t *testing.T, sample, name []byte) {
		files := fstest.MapFS{"c/new/sample.json": {Data: sample}, "c/new/benchmark.json": {Data: name}}
		for _, path := range []string{"c/new/sample.json", "c"} {
			run, err := Read(t.Context(), Source{Path: path, Files: files}, Options{Format: "criterion"})
			if err == nil {
				wholesome(t, run)
			}
		}
	})
}

// FuzzDetect says that recognising never fails, and that what is recognised is
// read by the format that recognised it.
func FuzzDetect(f *testing.F) {
	for _, fix := range fixtures(f) {
		if doc, err := os.ReadFile(fix.path); err == nil {
			f.Add(doc)
		}
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		found, ok := recognise(doc)
		name := found.Name
		run, err := Read(t.Context(), Source{Data: bytes.NewReader(doc)}, Options{})
		if err == nil && (!ok || run.Format != name) {
			t.Errorf("Detect says %q, %v, and Read took it for %s", name, ok, run.Format)
		}
	})
}

func fuzz(f *testing.F, format string) {
	for _, doc := range seeds(f, format) {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		run, err := Read(t.Context(), Source{Data: bytes.NewReader(doc)}, Options{Format: format})
		if err == nil {
			wholesome(t, run)
		}
	})
}

// twoFloats is 1 µs and 2 µs as float32 seconds.
var twoFloats = []byte{0xbd, 0x37, 0x86, 0x35, 0xbd, 0x37, 0x06, 0x36}

// seeds is the fixtures of a format, whole and cut in the middle.
func seeds(f *testing.F, format string) [][]byte {
	f.Helper()
	var docs [][]byte
	for _, fix := range fixtures(f) {
		if fix.format != format {
			continue
		}
		doc, err := os.ReadFile(filepath.FromSlash(fix.path))
		if err != nil {
			continue // a folder
		}
		docs = append(docs, doc, doc[:len(doc)/2])
	}
	if len(docs) == 0 {
		f.Fatalf("no fixtures of %s", format)
	}
	return docs
}
