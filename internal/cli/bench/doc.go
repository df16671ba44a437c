// Package bench has the commands that measure: bench, sweep and import. Flags are the flags that other commands
// that measure share.
package bench
