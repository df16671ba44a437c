// Package sides holds trials of how the two sides of a comparison are made: each commit built by its
// own recipe, "identical" only where nothing that counts differs, a bad case kept to itself, and
// nothing left behind by a killed run. CI runs a selection that no busy machine can fail; make
// nightly runs all of it, and docs/lab/sides.md has the figures.
package sides
