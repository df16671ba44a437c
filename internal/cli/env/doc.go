// Package env has what the commands of pawl share: the suite, the repository, the CI job, the journal, and the
// one table of exit codes.
package env
