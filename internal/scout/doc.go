// Package scout looks at a repository and says how its kernels could be built and
// measured: which harness or benchmark is there, what builds it, and which suite an
// engineer would write for it.
//
// Looking is pure: Look reads an fs.FS, within bounds, and runs nothing. walk.go
// gathers the files; harness.go, tool.go and kernel.go recognise what is in them, the
// most specific first; make.go, cmake.go, ninja.go and compile.go find what builds a
// source; compose.go writes the suite. Setup is the part with effects: it puts the
// files into the repository, builds, and asks the harness for its cases.
//
// The package knows repositories and suites. It must not know rounds, verdicts or the
// command line; how a build runs is handed to it. Names that it finds end up in
// commands, so a file whose name would mean something to a shell is never looked at.
package scout
