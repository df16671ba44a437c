// Package progress shows how a run goes: a live picture on a terminal, lines elsewhere, JSON for programs.
package progress
