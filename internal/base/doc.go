// Package base groups what every wing may use: files, shell commands, words, charts, versions, failpoints. Nothing in it knows about
// kernels, measurements or servers.
package base
