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

// ErrNothing is wrapped by the error of results that have nothing to report.
var ErrNothing = errors.New("nothing to report")

// ErrIdentical is wrapped by the error of results without a record because nothing that a
// build or a kernel reads had changed. That is not a mistake.
var ErrIdentical = errors.New("nothing that a build or a kernel reads had changed, so nothing was measured")

// Input is what a report is made from.
type Input struct {
	// Results is the folder that pawl run or pawl bench wrote, or a record.
	Results string
	// Repository is a folder of the clone that was measured; empty for none.
	Repository string
	Branch     string // empty for what the clone has checked out
	Pull       int
	// Path gives the file of a benchmark's kernel, relative to the repository; nil, or
	// an answer of "", where that is not known.
	Path func(suite measure.SuiteRef, benchmark string) string
	Now  time.Time
}

// NewReport makes the report of a run, with the files that go before it. The same
// results in the same clone give the same report, to the byte.
func NewReport(ctx context.Context, in Input) (*Report, []File, error) {
	record, dir := in.Results, filepath.Dir(in.Results)
	if info, err := os.Stat(in.Results); err == nil && info.IsDir() {
		record, dir = filepath.Join(in.Results, "current.json"), in.Results
	}
	run, err := measure.Load(record)
	if errors.Is(err, fs.ErrNotExist) && identical(dir) {
		return nil, nil, fmt.Errorf("%w: %w", ErrNothing, ErrIdentical)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("make a report: %w", err)
	}
	verdict, err := readVerdict(dir, run.ID)
	if err != nil {
		return nil, nil, fmt.Errorf("make a report: %w", err)
	}
	r, err := describe(run, verdict)
	if err != nil {
		return nil, nil, err
	}
	r.Branch, r.Pull = line(in.Branch, 255), in.Pull
	if err := in.locate(ctx, r, run.Suite); err != nil {
		return nil, nil, fmt.Errorf("make a report of run %s: %w", run.ID, err)
	}
	files, err := gather(dir, run, verdict)
	if err != nil {
		return nil, nil, fmt.Errorf("make a report of run %s: %w", run.ID, err)
	}
	for _, f := range files {
		r.Blobs = append(r.Blobs, f.Blob)
	}
	if err := r.Check(in.Now); err != nil {
		return nil, nil, fmt.Errorf("make a report of run %s: %w", run.ID, err)
	}
	return r, files, nil
}

// describe is what a record itself tells.
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
		return nil, fmt.Errorf("%w: run %s does not say which commit it measured: pawl push needs a run of a git repository", ErrNothing, run.ID)
	}
	if verdict != nil {
		r.Verdict, r.Sentence = verdict.Verdict, line(verdict.Sentence, 1000)
	}
	r.Points = points(run, verdict)
	if len(r.Points) == 0 {
		return nil, fmt.Errorf("%w: run %s has no case with a round that counts", ErrNothing, run.ID)
	}
	r.Health = health(run, r.Points)
	return r, nil
}

func trustOf(run *measure.Run) measure.Trust {
	switch {
	case run.Source == measure.Imported:
		return measure.TrustImported
	case run.Trust == "": // an older pawl knew no other
		return measure.Trusted
	default:
		return run.Trust
	}
}

// locate asks the clone where the commit stands and whose the kernels are.
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
	if err != nil || len(history) == 0 { // another clone: the server resolves it later
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

// line makes one short line of a text.
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
