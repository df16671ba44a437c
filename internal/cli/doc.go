// Package cli implements the pawl command: one file per command, and one table of exit codes.
// It parses flags, calls other packages and prints. Domain rules belong in the packages below it.
package cli
