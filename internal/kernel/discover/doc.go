// Package discover examines a repository and reports how its kernels could be built and measured:
// which harness or benchmark exists, what builds it, and which suite an engineer would write
// for it.
//
// Look is pure: it reads an fs.FS, within limits, and runs nothing. walk.go collects the
// files; harness.go, tool.go and kernel.go recognize their contents, most specific first;
// make.go, cmake.go, ninja.go and compile.go find what builds a source; compose.go writes the
// suite. Setup is the part with effects: it writes the files into the repository, builds, and
// asks the harness for its cases.
//
// The package knows repositories and suites. It must not know rounds, verdicts or the command
// line; the caller provides the function that builds. File names end up in commands, so it
// skips every file whose name has a special meaning in a shell.
package discover
