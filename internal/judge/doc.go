// Package judge groups what compares two sides and gives one answer: rounds, the run loop, the ledger of baselines, what a
// run costs. It must not know pull requests, pages or command lines.
package judge
