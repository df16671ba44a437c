// Package build turns sources into something that can be measured. It checks out a base commit
// beside the working tree, runs a suite's build command, and records each output and the tools
// that made it.
//
// These records decide whether two sides are identical, so they must cover everything that could
// make them differ: all declared outputs, the harness and its runtime files. The package must not
// know rounds, devices or verdicts.
package build
