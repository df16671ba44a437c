package publish

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/archive"
	"github.com/goatnote-inc/pawl/internal/base/scratch"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/comment"
	"github.com/goatnote-inc/pawl/internal/forge/untrusted"
	"github.com/goatnote-inc/pawl/internal/judge/cost"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/internal/report"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// resultsArtifact is the name of the artifact in which the gate uploads results.
const resultsArtifact = "pawl-results"

// read reads and judges what the request names.
func (p *publication) read(ctx context.Context, t *target, in *comment.Input) error {
	if p.Suite == nil {
		in.Gate = suite.Gate{Mode: suite.Advise}
		in.ToolFailed = cmp.Or(p.want.Failed, "The base has no suite yet, so there is nothing to judge by. Judging starts with the next change.")
		return nil
	}
	in.Gate, in.Folder, in.File = p.Suite.Gate, path.Dir(p.SuitePath), path.Base(p.SuitePath)
	switch {
	case p.want.Failed != "":
		in.ToolFailed = p.want.Failed
		return nil
	case len(p.want.Devices) > 0:
		return p.readDevices(ctx, *t, in)
	default:
		return p.readResults(ctx, t, p.want.Results, in)
	}
}

// readResults reads and judges the results of one device. Results that cannot be used are reported in the notice; they are
// not an error of publishing.
func (p *publication) readResults(ctx context.Context, t *target, results string, in *comment.Input) error {
	folder, err := scratch.New("", "comment")
	if err != nil {
		return fmt.Errorf("cannot prepare temporary storage for results: %w", err)
	}
	defer folder.Remove()
	dir := folder.Path
	err = p.fetch(ctx, t, results, dir, in)
	var c untrusted.Claim
	if err == nil && in.ToolFailed == "" {
		if c, err = untrusted.Read(dir); err == nil {
			in.Account = readClaimedAccount(dir)
		}
	}
	switch {
	case errors.Is(err, archive.ErrRejected):
		in.ToolFailed = "The results cannot be used: " + words.Sanitize(err.Error()) + "."
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
	if c.Run == nil || c.Code == untrusted.ExitFailed && c.Stopped != nil && c.Stopped.Side == measure.Candidate {
		describeUnfinishedRun(c, in)
		return nil
	}
	return p.judge(ctx, *t, c, in)
}

// fetch copies the wanted result files into dir, a private folder.
func (p *publication) fetch(ctx context.Context, t *target, results, dir string, in *comment.Input) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("cannot prepare temporary storage for results: %w", err)
	}
	defer root.Close()
	if t.run == 0 {
		_, err := archive.Open(results, root, untrusted.Limits())
		return err
	}
	list, err := p.Client.Artifacts(ctx, t.run)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(a forge.Artifact) bool { return a.Name != resultsArtifact || a.Expired })
	if len(list) == 0 {
		t.noNewReport = true
		in.ToolFailed = fmt.Sprintf("The run left no results: the change touches no kernel of the suite, or the run ended before it measured (conclusion: %q).", words.Sanitize(t.conclusion))
		return nil
	}
	a := slices.MaxFunc(list, func(a, b forge.Artifact) int { return cmp.Compare(a.ID, b.ID) }) // the newest artifact is from the last attempt
	if t.runURL != "" {
		in.Links.Artifact = fmt.Sprintf("%s/artifacts/%d", t.runURL, a.ID)
	}
	file, err := os.CreateTemp(dir, "*.zip") // not a name that is read
	if err != nil {
		return fmt.Errorf("cannot prepare temporary storage for results: %w", err)
	}
	defer os.Remove(file.Name())
	defer file.Close()
	if a.Size > untrusted.MaxArchiveBytes {
		return fmt.Errorf("%w: the artifact is too large (%d bytes)", archive.ErrRejected, a.Size)
	}
	if err := p.Client.Download(ctx, a, file, untrusted.MaxArchiveBytes); err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return fmt.Errorf("cannot read results: %w", err)
	}
	_, err = archive.Unpack(file, info.Size(), root, untrusted.Limits())
	return err
}

// readClaimedAccount returns the cost as reported by the machine that measured; nil if there is no valid account.
func readClaimedAccount(dir string) *cost.RunCost {
	f, err := os.Open(filepath.Join(dir, untrusted.Account))
	if err != nil {
		return nil
	}
	defer f.Close()
	a, err := cost.Read(f)
	if err != nil {
		return nil
	}
	return &a
}

func stagesOfClaim(c untrusted.Claim) []report.Stage {
	var list []report.Stage
	for _, s := range c.Stages {
		list = append(list, report.Stage{Name: s.Name, Answer: s.Answer, Line: s.Line, Detail: s.Detail})
	}
	if c.Stopped != nil && !slices.ContainsFunc(list, func(s report.Stage) bool { return s.Name == c.Stopped.Step }) {
		list = append(list, report.Stage{Name: c.Stopped.Step, Answer: "stop", Line: c.Stopped.Why})
	}
	return list
}

// describeUnfinishedRun describes a run that left nothing to judge. All of it is claimed by the machine that
// measured. Such a claim may count against the change; in its favor, only that there was nothing to
// measure.
func describeUnfinishedRun(c untrusted.Claim, in *comment.Input) {
	in.Claimed = ""
	switch {
	case c.Code == untrusted.ExitOK && c.Verdict == ratchet.Identical:
		in.Claimed = ratchet.Identical
	case c.Code == untrusted.ExitFailed:
		in.Claimed = ratchet.Broken
	case c.Code == untrusted.ExitNoAnswer:
		in.Claimed = ratchet.Inconclusive
	case c.Code < 0:
		in.ToolFailed = "The run left no record and no exit code: it was canceled, or its machine failed."
	default:
		in.ToolFailed = fmt.Sprintf("pawl run ended with exit code %d and left no record.", c.Code)
		if c.Stopped != nil {
			first, _, _ := strings.Cut(c.Stopped.Why, "\n")
			in.ToolFailed += " Reason: " + words.Sanitize(first)
		}
	}
}
