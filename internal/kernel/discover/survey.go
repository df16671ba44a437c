package discover

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// Level is how much of a measurement already exists. A lower level is more specific.
type Level int

// The levels.
const (
	Harness Level = iota // a program that uses pawl's protocol
	Tool                 // a benchmark that prints or records times that pawl reads
	Kernel               // code to measure, without anything that measures it
)

func (l Level) String() string { return [...]string{"harness", "tool", "kernel"}[l] }

// Survey holds what was found in a repository.
type Survey struct {
	Sightings []Finding // most specific first
	Suites    []string  // subfolders with their own pawl.yaml
	Files     int       // number of files read
	Odd       int       // number of files and folders skipped because of their names
	Cut       string    // why the search stopped early; empty if it did not

	kernels []Finding // code that a harness could be written for, even if there are benchmarks
}

// Finding is one way to measure something in a repository.
type Finding struct {
	Level   Level
	What    string // "a harness in C"
	Source  string // the file that identifies it; slash-separated, relative to the searched folder
	Build   suite.Build
	Harness suite.Harness
	// Timer is the clock that decides; empty means the best one the harness has.
	Timer measure.Timer
	SDK   string   // the file of the SDK that the source uses: "pawl.h", "pawl_harness.py"
	Adds  []File   // files to write before it can run
	Makes []string // files its commands leave in the tree, for .gitignore
	Needs string   // the program that builds or starts it; empty if it is not known
	Cases Cases
	// Evidence lists the lines by which it was recognized, Files all files, Doubts what was assumed.
	Evidence []Evidence
	Files    []string
	Doubts   []string
	LeftOut  string // the benchmarks that one suite cannot measure too; empty if there are none

	program string      // the built program; empty for scripts
	cmake   []cmakeGoal // what CMake builds
}

// Cases holds what the sources say about the cases of a benchmark.
type Cases struct {
	Definition []string       // files that define the measurement and contain no kernel
	Listed     []suite.Listed // benchmarks with the ranges in their sources
}

// File is a file to write into the repository.
type File struct {
	Path    string
	Content []byte
}

// Evidence is a line of a file that supports a sighting.
type Evidence struct {
	Path string
	Line int // from 1; 0 means the whole file
	Says string
}

// Scan reads a repository and reports what it could measure. It returns an error only if the
// root folder cannot be read.
func Scan(fsys fs.FS) (Survey, error) {
	t, err := walk(fsys)
	if err != nil {
		return Survey{}, fmt.Errorf("cannot search for kernels: %w", err)
	}
	s := Survey{Suites: t.suites, Files: len(t.files), Odd: t.odd, Cut: t.cut, kernels: t.kernels()}
	s.Sightings = merge(slices.Concat(t.harnesses(), t.tools(), t.scripts(), t.programs()))
	if len(s.Sightings) == 0 {
		s.Sightings = s.kernels
	}
	return s, nil
}

// merge combines sightings of the same program: a benchmark may be spread over many files.
func merge(list []Finding) []Finding {
	var out []Finding
	for _, s := range list {
		i := slices.IndexFunc(out, func(o Finding) bool {
			return o.Level == s.Level && o.Harness.Format == s.Harness.Format && o.Build.Command == s.Build.Command && o.Harness.Command == s.Harness.Command
		})
		if i < 0 {
			out = append(out, s)
			continue
		}
		for _, e := range s.Evidence {
			if !slices.Contains(out[i].Evidence, e) {
				out[i].Evidence = append(out[i].Evidence, e)
			}
		}
		out[i].Files = append(out[i].Files, s.Files...)
		out[i].Cases = joinCases([]Finding{out[i], s}, false)
	}
	return out
}

// ErrNothingFound reports that there is nothing to measure.
var ErrNothingFound = errors.New("no kernel, harness or benchmark was recognized")

// AmbiguousError reports that there are several harnesses. A suite has one.
type AmbiguousError struct{ Sources []string }

func (e *AmbiguousError) Error() string {
	const most = 5
	shown := strings.Join(e.Sources[:min(len(e.Sources), most)], ", ")
	if len(e.Sources) > most {
		shown += ", ..."
	}
	return fmt.Sprintf("there are %d things to measure: %s", len(e.Sources), shown)
}

// Choose returns the sighting to write a suite for: the one with this source or, if source is
// empty, the most specific. Several benchmarks of one kind become one suite; here reports whether a
// program exists on this machine, and decides between kinds. Among kernels without a harness it
// returns the first, because the harness must still be written.
func (s Survey) Choose(source string, here func(program string) bool) (Finding, error) {
	if source != "" {
		all := slices.Concat(s.Sightings, s.kernels)
		i := slices.IndexFunc(all, func(x Finding) bool { return x.has(source) })
		if i < 0 {
			return Finding{}, fmt.Errorf("nothing to measure was recognized in %s", source)
		}
		return all[i], nil
	}
	if len(s.Sightings) == 0 {
		return Finding{}, ErrNothingFound
	}
	first := s.Sightings[0]
	same := slices.DeleteFunc(slices.Clone(s.Sightings), func(x Finding) bool { return x.Level != first.Level })
	switch {
	case first.Level == Tool:
		return combine(same, here), nil
	case len(same) > 1 && first.Level == Harness:
		var sources []string
		for _, x := range same {
			sources = append(sources, x.Source)
		}
		return Finding{}, &AmbiguousError{Sources: sources}
	}
	return first, nil
}

// has reports whether the sighting is based on a file.
func (s Finding) has(file string) bool {
	return s.Source == file || slices.Contains(s.Files, file) ||
		slices.ContainsFunc(s.Evidence, func(e Evidence) bool { return e.Path == file })
}
