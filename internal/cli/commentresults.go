package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/account"
	"github.com/goatnote-inc/pawl/internal/claim"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/notice"
	"github.com/goatnote-inc/pawl/internal/parcel"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/internal/suite"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// resultsArtifact is what the gate uploads results as.
const resultsArtifact = "pawl-results"

// fill reads the results and says what they are worth. Results that cannot be used are
// told of, and are no error of publishing.
func (p *publisher) fill(ctx context.Context, t *target, in *notice.Input) error {
	if p.base == nil {
		in.Gate = suite.Gate{Mode: suite.Advise}
		in.ToolFailed = "The base has no suite yet, so there is nothing to judge by. Changes are judged from the next one on."
		return nil
	}
	in.Gate = p.base.Gate
	in.Folder, in.File = p.inRepository(ctx)
	dir, err := os.MkdirTemp("", "pawl-comment-")
	if err != nil {
		return fmt.Errorf("make a place for results: %w", err)
	}
	defer os.RemoveAll(dir)
	err = p.fetch(ctx, t, dir, in)
	var c claim.Claim
	if err == nil && in.ToolFailed == "" {
		if c, err = claim.Read(dir); err == nil {
			in.Account = accountIn(dir)
		}
	}
	switch {
	case errors.Is(err, parcel.ErrPoisoned):
		in.ToolFailed = "The results are refused: " + report.Plain(err.Error()) + "."
		return nil
	case err != nil || in.ToolFailed != "":
		return err
	}
	if t.pull != nil && !t.fork {
		if in.Accepted, err = p.acceptance(ctx, *t.pull); err != nil {
			return err
		}
	}
	in.Claimed, in.Stages = c.Verdict, stagesOfClaim(c)
	if c.Run == nil || c.Code == exitNo && c.Stopped != nil && c.Stopped.Side == measure.Candidate {
		endedEarly(c, in)
		return nil
	}
	return p.judge(ctx, *t, c, in)
}

// fetch brings the files that are read into a folder of our own.
func (p *publisher) fetch(ctx context.Context, t *target, dir string, in *notice.Input) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("make a place for results: %w", err)
	}
	defer root.Close()
	if t.run == 0 {
		_, err := parcel.Open(p.results, root, claim.Limits())
		return err
	}
	list, err := p.forge.Artifacts(ctx, t.run)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(a forge.Artifact) bool { return a.Name != resultsArtifact || a.Expired })
	if len(list) == 0 {
		t.silent = true
		in.ToolFailed = fmt.Sprintf("The run left no results: it touches no kernel of the suite, or ended before it measured (it ended with %q).", report.Plain(t.ended))
		return nil
	}
	a := slices.MaxFunc(list, func(a, b forge.Artifact) int { return cmp.Compare(a.ID, b.ID) }) // of the last attempt
	if t.runURL != "" {
		in.Links.Artifact = fmt.Sprintf("%s/artifacts/%d", t.runURL, a.ID)
	}
	file, err := os.CreateTemp("", "pawl-results-*.zip")
	if err != nil {
		return fmt.Errorf("make a place for results: %w", err)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if a.Size > claim.ArchiveMost {
		return fmt.Errorf("%w: the artifact has %d bytes", parcel.ErrPoisoned, a.Size)
	}
	if err := p.forge.Download(ctx, a, file, claim.ArchiveMost); err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("read results: %w", err)
	}
	_, err = parcel.Unpack(file, info.Size(), root, claim.Limits())
	return err
}

// accountIn is what the machine that measured says of its cost; nil where it says
// nothing that can be.
func accountIn(dir string) *account.Account {
	f, err := os.Open(filepath.Join(dir, claim.Account))
	if err != nil {
		return nil
	}
	defer f.Close()
	a, err := account.Read(f)
	if err != nil {
		return nil
	}
	return &a
}

func stagesOfClaim(c claim.Claim) []report.Stage {
	var list []report.Stage
	for _, s := range c.Stages {
		list = append(list, report.Stage{Name: s.Name, Answer: s.Answer, Line: s.Line, Detail: s.Detail})
	}
	if c.Stopped != nil && !slices.ContainsFunc(list, func(s report.Stage) bool { return s.Name == c.Stopped.Step }) {
		list = append(list, report.Stage{Name: c.Stopped.Step, Answer: "stop", Line: c.Stopped.Why})
	}
	return list
}

// endedEarly says what is known of a run that left nothing to judge. All of it is the
// word of the machine that measured: it may speak against the change, and for it only
// that there was nothing to measure.
func endedEarly(c claim.Claim, in *notice.Input) {
	in.Claimed = ""
	switch {
	case c.Code == exitYes && c.Verdict == ratchet.Identical:
		in.Claimed = ratchet.Identical
	case c.Code == exitNo:
		in.Claimed = ratchet.Broken
	case c.Code == exitNoAnswer:
		in.Claimed = ratchet.Inconclusive
	case c.Code < 0:
		in.ToolFailed = "The run left no record and no exit code: it was cancelled, or its machine failed."
	default:
		in.ToolFailed = fmt.Sprintf("pawl run ended with exit code %d and left no record.", c.Code)
		if c.Stopped != nil {
			first, _, _ := strings.Cut(c.Stopped.Why, "\n")
			in.ToolFailed += " It says: " + report.Plain(first)
		}
	}
}
