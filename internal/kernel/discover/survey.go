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
	Tool                 // a benchmark that prints a format pawl reads
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
	// Evidence lists the lines by which it was recognized, Doubts what was assumed.
	Evidence []Evidence
	Doubts   []string
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
	s := Survey{Suites: t.suites, Files: len(t.files), Odd: t.odd, Cut: t.cut}
	s.Sightings = merge(slices.Concat(t.harnesses(), t.tools()))
	if len(s.Sightings) == 0 {
		s.Sightings = t.kernels()
	}
	return s, nil
}

// merge combines sightings of the same program: a benchmark may be spread over many files.
func merge(list []Finding) []Finding {
	var out []Finding
	for _, s := range list {
		i := slices.IndexFunc(out, func(o Finding) bool {
			return o.Level == s.Level && o.Build.Command == s.Build.Command && o.Harness.Command == s.Harness.Command
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
	}
	return out
}

// ErrNothingFound reports that there is nothing to measure.
var ErrNothingFound = errors.New("no kernel, harness or benchmark was recognized")

// AmbiguousError reports that there are several equally good sightings.
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
// empty, the most specific. Among kernels without a harness it returns the first, because the
// harness must still be written.
func (s Survey) Choose(source string) (Finding, error) {
	if source != "" {
		i := slices.IndexFunc(s.Sightings, func(x Finding) bool { return x.has(source) })
		if i < 0 {
			return Finding{}, fmt.Errorf("nothing to measure was recognized in %s", source)
		}
		return s.Sightings[i], nil
	}
	if len(s.Sightings) == 0 {
		return Finding{}, ErrNothingFound
	}
	first := s.Sightings[0]
	var same []string
	for _, x := range s.Sightings {
		if x.Level == first.Level {
			same = append(same, x.Source)
		}
	}
	if len(same) > 1 && first.Level != Kernel {
		return Finding{}, &AmbiguousError{Sources: same}
	}
	return first, nil
}

// has reports whether the sighting is based on a file.
func (s Finding) has(file string) bool {
	return s.Source == file || slices.ContainsFunc(s.Evidence, func(e Evidence) bool { return e.Path == file })
}
