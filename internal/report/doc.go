// Package report says in words, tables and pictures what a run record holds. It
// computes only what is shown, never a verdict, and writes to whatever writer it is
// given. It must not measure, read devices or talk to a forge.
package report
