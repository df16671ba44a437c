// Package suite reads the suite file, pawl.yaml: what to build, what to run, which
// configs to measure and how. It decodes strictly, reports every mistake of a file
// with its line and column, follows extends, expands the parameter matrix and
// answers with cases that are ready to be measured.
//
// The way of a file through the package: node.go reads YAML into a tree that
// remembers where each value stands; extends.go merges the trees of several files;
// decode.go fills the structs of file.go and refuses what they do not know;
// resolve.go and benchmark.go turn them into a Suite with its cases. schema.go
// prints the JSON Schema of the same structs, so the two cannot disagree, and
// defaults.yaml is the file that every suite extends without saying so.
//
// The package knows the file and nothing that happens because of it: it starts no
// process, reads no device and judges no number. What a harness lists by itself is
// handed in (Suite.Fill).
package suite
