package scout

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// Level tells how much is there already. The lower, the more specific.
type Level int

// The levels.
const (
	Harness Level = iota // a program that speaks pawl's protocol
	Tool                 // a benchmark that prints a format pawl reads
	Kernel               // something to measure, and nothing that measures it
)

func (l Level) String() string { return [...]string{"harness", "tool", "kernel"}[l] }

// Survey is what was seen in a repository.
type Survey struct {
	Sightings []Sighting // the most specific first, then by path
	Suites    []string   // folders further down that have a pawl.yaml of their own
	Files     int        // how many were read
	Odd       int        // files and folders that were left out for their names
	Cut       string     // why not all of them, empty when all were
}

// Sighting is one way to measure something here.
type Sighting struct {
	Level   Level
	What    string // "a harness in C"
	Source  string // the file to name it by; slash-separated, from the folder looked at
	Build   suite.Build
	Harness suite.Harness
	// Timer is the clock to decide by; empty for the best one the harness has.
	Timer measure.Timer
	SDK   string   // the file of the SDK that the source uses: "pawl.h", "pawl_harness.py"
	Adds  []File   // what has to be written before it runs
	Makes []string // what its commands leave in the tree, for .gitignore
	// Evidence is what it was recognised by, Doubts is what was assumed.
	Evidence []Evidence
	Doubts   []string
}

// File is one to be written into the repository.
type File struct {
	Path    string
	Content []byte
}

// Evidence is a line of a file that says something.
type Evidence struct {
	Path string
	Line int // from 1; 0 for the file as a whole
	Says string
}

// Look reads a repository and says what it could measure. Only a folder that
// cannot be read at all is an error.
func Look(fsys fs.FS) (Survey, error) {
	t, err := walk(fsys)
	if err != nil {
		return Survey{}, fmt.Errorf("look for kernels: %w", err)
	}
	s := Survey{Suites: t.suites, Files: len(t.files), Odd: t.odd, Cut: t.cut}
	s.Sightings = merge(slices.Concat(t.harnesses(), t.tools()))
	if len(s.Sightings) == 0 {
		s.Sightings = t.kernels()
	}
	return s, nil
}

// merge makes one sighting of those that are one program: a benchmark may be
// spread over many files.
func merge(list []Sighting) []Sighting {
	var out []Sighting
	for _, s := range list {
		i := slices.IndexFunc(out, func(o Sighting) bool {
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

// ErrNothing says that there is nothing to measure.
var ErrNothing = errors.New("no kernel, harness or benchmark was recognised")

// AmbiguousError says that there are several ways, and no reason to prefer one.
type AmbiguousError struct{ Sources []string }

func (e *AmbiguousError) Error() string {
	const most = 5
	shown := strings.Join(e.Sources[:min(len(e.Sources), most)], ", ")
	if len(e.Sources) > most {
		shown += ", ..."
	}
	return fmt.Sprintf("there are %d things to measure: %s", len(e.Sources), shown)
}

// Choose returns the sighting to make a suite of: the one with this source or,
// without one, the most specific. Of kernels without a harness the first serves,
// since its harness is yet to be written.
func (s Survey) Choose(source string) (Sighting, error) {
	if source != "" {
		i := slices.IndexFunc(s.Sightings, func(x Sighting) bool { return x.has(source) })
		if i < 0 {
			return Sighting{}, fmt.Errorf("nothing to measure was recognised in %s", source)
		}
		return s.Sightings[i], nil
	}
	if len(s.Sightings) == 0 {
		return Sighting{}, ErrNothing
	}
	first := s.Sightings[0]
	var same []string
	for _, x := range s.Sightings {
		if x.Level == first.Level {
			same = append(same, x.Source)
		}
	}
	if len(same) > 1 && first.Level != Kernel {
		return Sighting{}, &AmbiguousError{Sources: same}
	}
	return first, nil
}

// has tells whether a file is one that the sighting was recognised by.
func (s Sighting) has(file string) bool {
	return s.Source == file || slices.ContainsFunc(s.Evidence, func(e Evidence) bool { return e.Path == file })
}
