// Package start has the commands that set up a repository and a machine: init, doctor, suite and version.
package start
