// Package cli is the pawl command: one file a command, exit codes in one table.
// It parses, calls and prints; every rule lives below it.
package cli
