package cli

import (
	"errors"
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/judge/trial"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// buildingCommands lists the commands that build the candidate.
var buildingCommands = []string{"build", "bench", "run", "fuzz", "preflight", "profile", "tune"}

// buildResult returns the result of building the candidate, derived from how a command ended. It is nil if
// the candidate was not built.
func buildResult(command string, built bool, err error) *journal.Built {
	if !slices.Contains(buildingCommands, command) {
		return nil
	}
	if side, ok := errors.AsType[*trial.SideError](err); ok && side.Side != suite.Candidate {
		return builtOK(built) // the base or a reference failed
	}
	if missing, ok := errors.AsType[*build.MissingError](err); ok {
		return &journal.Built{Class: journal.Toolchain, Text: missing.Error()}
	}
	failed, ok := errors.AsType[*build.Error](err)
	if !ok {
		if class := loadFailureClass(err); class != "" { // it builds but does not load
			return &journal.Built{Class: class, Text: firstLines(err.Error(), 3)}
		}
		return builtOK(built)
	}
	b := &journal.Built{Class: journal.OtherMistake, Text: firstLines(failed.Reason, 1)}
	if d := failed.First; d != nil {
		b.Text = d.Message
		if d.File != "" {
			b.Where = fmt.Sprintf("%s:%d", d.File, d.Line)
		}
	}
	b.Class = buildFailureClass(b.Text, failed.Output)
	return b
}

func builtOK(built bool) *journal.Built {
	if !built {
		return nil
	}
	return &journal.Built{OK: true}
}

// buildFailureClasses maps the output of tools to classes of build failures. The first match counts.
var buildFailureClasses = []struct {
	class   string
	pattern *lazyregexp.Regexp
}{
	{journal.ABI, lazyregexp.New(`(?i)GLIBCXX_|CXXABI_|GLIBC_[0-9]|_GLIBCXX_USE_CXX11_ABI|cxx11 ?abi|\bABI\b|version .* not found \(required by|incompatible (?:library|target|ELF)|undefined symbol: _ZN(?:K?)(?:2at|3c10|5torch)|libtorch|libcudart\.so[.0-9]*: cannot open`)},
	{journal.Instantiation, lazyregexp.New(`(?i)explicit instantiation|instantiat|undefined (?:reference to|symbol:?)[^\n]*(?:<|IL[ijb]|I[A-Z0-9][^\n]*E[vRP])`)},
	{journal.UndefinedSymbol, lazyregexp.New(`(?i)undefined (?:reference|symbol)|unresolved (?:external|extern)|multiple definition|cannot find -l|unable to find library`)},
	{journal.MissingFile, lazyregexp.New(`(?i)no such file or directory|cannot open (?:source|include) file|file not found|No rule to make target|cannot find source file|does not exist`)},
	{journal.Toolchain, lazyregexp.New(`(?i)command not found|unsupported (?:gpu architecture|GNU version|Microsoft|clang version)|not found in PATH|is not a supported|nvcc fatal|no cuda toolset|could not find (?:cuda|compiler)|No CMAKE_|internal compiler error`)},
}

// buildFailureClass returns the class of a build failure. The texts are tried in order: the first message, then
// the whole output.
func buildFailureClass(texts ...string) string {
	for _, text := range texts {
		for _, m := range buildFailureClasses {
			if m.pattern.MatchString(text) {
				return m.class
			}
		}
	}
	return journal.OtherMistake
}

var loadFailure = lazyregexp.New(`(?i)error while loading shared libraries|undefined symbol:|symbol lookup error|ImportError|cannot open shared object|version .* not found \(required by|no kernel image is available`)

// loadFailureClass returns the class of a failure to load something that was built; empty for any other error.
func loadFailureClass(err error) string {
	if err == nil || !loadFailure.MatchString(err.Error()) {
		return ""
	}
	if class := buildFailureClass(err.Error()); class == journal.Instantiation || class == journal.UndefinedSymbol {
		return class
	}
	return journal.ABI
}
