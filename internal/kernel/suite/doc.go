// Package suite reads the suite file, pawl.yaml: what to build, what to run, which configs to
// measure and how. It decodes strictly, reports every mistake with its line and column,
// follows extends, expands the parameter matrix and returns cases that are ready to measure.
//
// A file passes through the package in this order: base/strictyaml reads it into a tree that keeps
// the position of each value; extends.go merges the trees of several files; base/strictyaml fills
// the structs of file.go and rejects everything else; resolve.go and benchmark.go turn them
// into a Suite with its cases. schema.go prints the JSON Schema of the same structs, so the
// two cannot disagree. Every suite implicitly extends defaults.yaml.
//
// The package knows the file and nothing that happens because of it: it starts no process,
// reads no device and judges no number. The caller passes in what a harness lists (Suite.Fill).
package suite
