// Package command has what every command of pawl and pawl-lab shares: its streams, how it reports mistakes in the command
// line, and how it ends.
package command
