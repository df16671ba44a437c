// Package decide has the commands that judge: run, compare, baseline, fuzz and preflight.
package decide
