// Package build turns sources into something that can be measured: it checks a
// base commit out beside the working tree, runs a suite's build command, and says
// what came out of it, file by file and with which tools.
//
// What it says decides whether two sides are identical, so it must see everything
// that could make them differ: all declared outputs, the harness and its runtime
// files. It must not know rounds, devices or verdicts.
package build
