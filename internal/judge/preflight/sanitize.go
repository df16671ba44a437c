package preflight

import (
	"strconv"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// SanitizerResult is the result of compute-sanitizer.
type SanitizerResult struct {
	Errors   int       // count from its summary
	Findings []Finding // the first of them
	Finished bool      // it printed a summary: only then does no errors mean that there are none
	Cannot   string    // why it could not run; empty if it did
}

// Finding is one finding of a compute-sanitizer tool.
type Finding struct {
	What  string // "Invalid __global__ write of size 4 bytes"
	Where string // "at 0x160 in demo.cu:6:kernel(float *)"
}

// SanitizerTools are the tools of compute-sanitizer to run, each over the whole program.
var SanitizerTools = []string{"memcheck", "racecheck", "initcheck"}

var (
	summaryLine  = lazyregexp.New(`^========= ERROR SUMMARY: (\d+) errors?\b`)
	raceLine     = lazyregexp.New(`^========= RACECHECK SUMMARY: (\d+) hazards? displayed \((\d+) errors?, (\d+) warnings?\)`)
	findingLine  = lazyregexp.New(`^========= (Invalid |Uninitialized |Misaligned |Error: Race reported|Error: .*[Hh]azard|Potential .* hazard|Warp illegal|Illegal |Malloc/Free error|Barrier error|Program hit )(.*)$`)
	detailLine   = lazyregexp.New(`^=========\s{2,}(at .*|by thread .*|and .* access at .*)$`)
	cannotLine   = lazyregexp.New(`(Unable to find injection library.*|Target application doesn't exist.*|No supported GPUs? (?:was |were )?(?:detected|found).*|.*not supported on this (?:device|GPU|system).*|.*[Ii]nsufficient driver.*|.*CUDA driver version is insufficient.*)`)
	mostFindings = 20
)

// noSummary is why a sanitizer without a summary could not run.
const noSummary = "it ended without a summary"

// ReadSanitizer parses the output of compute-sanitizer. Only a summary means that it
// checked everything.
func ReadSanitizer(text string) SanitizerResult {
	var s SanitizerResult
	races := -1
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if len(line) > maxLogLine {
			continue
		}
		if m := raceLine.FindStringSubmatch(line); m != nil {
			races = count(m[2]) + count(m[3])
			s.Finished = true
			continue
		}
		if m := summaryLine.FindStringSubmatch(line); m != nil {
			s.Errors, s.Finished = count(m[1]), true
			continue
		}
		if m := findingLine.FindStringSubmatch(line); m != nil {
			if len(s.Findings) < mostFindings {
				s.Findings = append(s.Findings, Finding{What: m[1] + m[2]})
			}
			continue
		}
		if m := detailLine.FindStringSubmatch(line); m != nil && len(s.Findings) > 0 {
			if last := &s.Findings[len(s.Findings)-1]; last.Where == "" {
				last.Where = m[1]
			}
			continue
		}
		if m := cannotLine.FindStringSubmatch(line); m != nil && s.Cannot == "" {
			s.Cannot = strings.TrimSpace(strings.TrimPrefix(m[1], "========="))
		}
	}
	if races > s.Errors {
		s.Errors = races
	}
	if !s.Finished && s.Cannot == "" {
		s.Cannot = noSummary
	}
	if s.Finished {
		s.Cannot = ""
	}
	return s
}

func count(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 1 << 30 // a count that is too large must not become none
	}
	return n
}
