// Package adapter converts the output of other benchmark tools to a measure.Run:
// NVBench, Google Benchmark, pytest-benchmark, hyperfine, Criterion.rs, Go
// benchmarks, Triton and torch timings, the SDPA sweeps pawl grew out of, and the
// output of any program that prints times.
//
// It knows only file formats: how samples are laid out, in which unit, on which
// clock, and what each tool leaves out. It does not start the tools, has no clock,
// and does not judge. One imported file is one round. Merge combines several files
// into one run.
//
// Nothing is dropped silently. Content that this package does not understand becomes
// a warning of the run. A time that is not a finite number above zero is an error
// that names file, case and position. Input is untrusted: every size, depth and count
// has a limit. Files named inside a file are read only below its own folder, or below
// the root that the caller gives.
package adapter
