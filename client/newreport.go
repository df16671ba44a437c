package client

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/measure"
)

// ErrNothingToReport is wrapped by the error for results that contain nothing to report.
var ErrNothingToReport = errors.New("nothing to report")

// ErrIdentical is wrapped by the error for results without a record because no input of a build or a kernel
// had changed. It is not a failure.
var ErrIdentical = errors.New("no input of a build or a kernel changed, so nothing was measured")

// Input specifies what a report is made from.
type Input struct {
	// Results is the directory written by pawl run or pawl bench, or the path of a record.
	Results string
	// Repository is a directory in the clone that was measured; empty for none.
	Repository string
	Branch     string // empty for the branch that the clone has checked out
	Pull       int
	// Path returns the file of a benchmark's kernel, relative to the repository, or "" if unknown. It may be nil.
	Path func(suite measure.SuiteRef, benchmark string) string
	Now  time.Time
}

// NewReport returns the report of a run and the files to send before it. The same results in the same clone
// give exactly the same report.
func NewReport(ctx context.Context, in Input) (*Report, []File, error) {
	record, dir := in.Results, filepath.Dir(in.Results)
	if info, err := os.Stat(in.Results); err == nil && info.IsDir() {
		record, dir = filepath.Join(in.Results, "current.json"), in.Results
	}
	run, err := measure.Load(record)
	if errors.Is(err, fs.ErrNotExist) && identical(dir) {
		return nil, nil, fmt.Errorf("%w: %w", ErrNothingToReport, ErrIdentical)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("cannot make a report: %w", err)
	}
	verdict, err := readVerdict(dir, run.ID)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot make a report: %w", err)
	}
	r, err := describe(run, verdict)
	if err != nil {
		return nil, nil, err
	}
	r.Branch, r.Pull = line(in.Branch, 255), in.Pull
	if err := in.locate(ctx, r, run.Suite); err != nil {
		return nil, nil, fmt.Errorf("cannot make a report of run %s: %w", run.ID, err)
	}
	files, err := gather(dir, run, verdict)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot make a report of run %s: %w", run.ID, err)
	}
	for _, f := range files {
		r.Blobs = append(r.Blobs, f.Blob)
	}
	if err := r.Check(in.Now); err != nil {
		return nil, nil, fmt.Errorf("cannot make a report of run %s: %w", run.ID, err)
	}
	return r, files, nil
}

// describe fills the parts of a report that come from the record itself.
func describe(run *measure.Run, verdict *verdictFile) (*Report, error) {
	r := &Report{
		Schema: SchemaReport, Run: run.ID, Measured: run.Created.UTC(), Pawl: line(run.Pawl, maxName), Suite: line(run.Suite.Name, maxName),
		Trust: trustOf(run), Device: run.Device, Testbed: run.Testbed,
	}
	if r.Suite == "" {
		r.Suite = "suite"
	}
	for _, im := range run.Implementations {
		if im.Name == measure.Candidate {
			r.Commit.SHA, r.Dirty = strings.ToLower(im.Commit), im.Dirty
		}
	}
	if r.Commit.SHA == "" {
		return nil, fmt.Errorf("%w: the record of run %s has no commit: pawl push needs a run in a git repository", ErrNothingToReport, run.ID)
	}
	if verdict != nil {
		r.Verdict, r.Sentence = verdict.Verdict, line(verdict.Sentence, 1000)
	}
	r.Points = points(run, verdict)
	if len(r.Points) == 0 {
		return nil, fmt.Errorf("%w: run %s has no case with a valid round", ErrNothingToReport, run.ID)
	}
	r.Health = health(run, r.Points)
	return r, nil
}

func trustOf(run *measure.Run) measure.Trust {
	switch {
	case run.Source == measure.Imported:
		return measure.TrustImported
	case run.Trust == "": // older versions of pawl had no other level
		return measure.Trusted
	default:
		return run.Trust
	}
}

// locate adds data from the clone: the history of the commit and the owners of the kernels.
func (in Input) locate(ctx context.Context, r *Report, suite measure.SuiteRef) error {
	if in.Path != nil {
		for i := range r.Points {
			if p := in.Path(suite, r.Points[i].Benchmark); p != "" && len(p) <= maxPath && plain(p) && inside(p) {
				r.Points[i].Path = p
			}
		}
	}
	if in.Repository == "" {
		return nil
	}
	g := clone(in.Repository)
	history, err := g.history(ctx, r.Commit.SHA, in.Now)
	if err != nil || len(history) == 0 { // not in this clone: the server resolves it later
		return ctx.Err()
	}
	r.Commit, r.History = history[0], history[1:]
	if r.Branch == "" {
		r.Branch = line(g.branch(ctx, r.Commit.SHA), 255)
	}
	owners, known := g.owners(ctx, r.Commit.SHA), map[string][]string{}
	for i := range r.Points {
		p := &r.Points[i]
		if _, ok := known[p.Path]; !ok && p.Path != "" {
			known[p.Path] = owners.Of(p.Path)
		}
		p.Owners = known[p.Path]
	}
	return ctx.Err()
}

// line converts a text to one line of at most the given number of bytes.
func line(s string, most int) string {
	s = strings.ToValidUTF8(s, "")
	s = strings.Map(func(c rune) rune {
		if c < 0x20 || c >= 0x7f && c < 0xa0 {
			return ' '
		}
		return c
	}, s)
	s = strings.TrimSpace(s)
	for len(s) > most {
		_, size := utf8.DecodeLastRuneInString(s)
		s = s[:len(s)-size]
	}
	return s
}
