// Package adapter reads what other benchmark tools write into a measure.Run:
// NVBench, Google Benchmark, pytest-benchmark, hyperfine, Criterion.rs, Go
// benchmarks, Triton and torch timings, and the SDPA sweeps pawl grew out of.
//
// It knows file formats and nothing else: how samples are laid out, in which
// unit, on which clock, and what each tool leaves out. It does not start the
// tools, has no clock, and does not judge. One imported file is one round; Merge
// makes one run of several files.
//
// Nothing is dropped silently. What a format says and this package does not
// understand becomes a warning of the run; a time that is not a finite number
// above zero is an error that names file, case and position. Input is hostile:
// every size, depth and count has a limit, and files named inside a file are
// read only below the folder it stands in, or below the root the caller gives.
package adapter
