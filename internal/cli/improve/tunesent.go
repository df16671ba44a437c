package improve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/archive"
	"github.com/goatnote-inc/pawl/internal/cli/bench"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/forge/untrusted"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/tune"
	"github.com/goatnote-inc/pawl/measure"
)

// The files of a search that are read again, and their size limits in bytes.
const (
	tuneReport          = "report.json"
	tuneProof           = "proof.json"
	tuneJournal         = "journal.jsonl"
	maxTuneReportBytes  = 4 << 20
	maxTuneJournalBytes = 32 << 20
)

var tuneReportJSON = archive.JSONLimits{
	Bytes: maxTuneReportBytes, Depth: 24, Lists: 50_000, Strings: 200_000, Letters: 2 << 20, Longest: 64 << 10, Numbers: 500_000,
}

// openTuning opens the results of a search, which may have run on another machine.
func openTuning(from string) (*bench.ReceivedFiles, error) {
	want := append(bench.RecordFiles(tuneProof), archive.WantedFile{Name: tuneReport, Most: maxTuneReportBytes}, archive.WantedFile{Name: tuneJournal, Most: maxTuneJournalBytes})
	return bench.OpenReceived(from, want...)
}

// readTuning reads the report of a search, its evaluations if they can be read, and the samples of its
// proof; nil if there are none.
func readTuning(s *bench.ReceivedFiles) (*tune.Report, *measure.Run, error) {
	f, err := os.Open(filepath.Join(s.Dir, tuneReport))
	if err != nil {
		return nil, nil, command.Exit(command.ExitNoAnswer, fmt.Errorf("%s has no %s: pawl tune writes it when a search ends", s.From, tuneReport))
	}
	defer f.Close()
	if err := archive.CheckJSON(f, tuneReportJSON); err != nil {
		return nil, nil, s.Refuse(fmt.Errorf("%s: %w", tuneReport, err))
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, nil, fmt.Errorf("read %s: %w", tuneReport, err)
	}
	var r tune.Report
	if err := json.NewDecoder(f).Decode(&r); err != nil {
		return nil, nil, s.Refuse(fmt.Errorf("%s: %.200s", tuneReport, err.Error()))
	}
	if header, list, err := tune.Load(filepath.Join(s.Dir, tuneJournal)); err == nil && header.Case == r.Header.Case {
		r.Evaluations = list // used only for the text of the suggestions
	}
	run, err := untrusted.ReadRecord(s.Dir, tuneProof)
	if err != nil {
		return nil, nil, s.Refuse(err)
	}
	return &r, run, nil
}

// sameCommit checks that the tuned code is the code to be changed. It checks only a draft: a user who
// applies the change in the tuned tree may have edited it since, but sees the change.
func (f *tuneApply) sameCommit(ctx context.Context, dir string, h tune.Header) error {
	if !f.draft {
		return nil
	}
	repo, err := build.Open(ctx, dir)
	if err != nil {
		return err
	}
	head, _, err := repo.Head(ctx)
	switch {
	case err != nil:
		return err
	case h.Dirty || h.Commit != head:
		what := "commit " + strings.ToValidUTF8(fmt.Sprintf("%.12q", h.Commit), "")
		if h.Dirty {
			what += " with other changes"
		}
		return command.Exit(command.ExitFailed, fmt.Errorf("cannot open a draft: %s was tuned, but %.12s is checked out", what, head))
	}
	return nil
}
