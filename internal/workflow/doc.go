// Package workflow knows the workflow files that pawl writes for GitHub Actions: their
// text, how a file that nobody touched is told from one that somebody edited, and the
// rules that keep a machine that runs kernels away from everything that may write.
//
// The same rules are held against our own files by tests, and against the user's by pawl
// doctor. The package reads and makes text; it must not know git, the network, or what
// a verdict is.
package workflow
