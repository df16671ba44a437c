package ci

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/archive"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/judge/cost"
)

// maxFetchedAccounts is how many accounts are added up. Each takes two requests, and a repository's
// token allows a thousand an hour.
const maxFetchedAccounts = 100

// fetchAccounts fetches the accounts of a repository's own runs. Whether a run is from a fork, and its
// branch, come from the forge.
func (f *costFlags) fetchAccounts(ctx context.Context) (list []cost.RunCost, bad []error, err error) {
	c, _, err := f.AtForge(f.repo, map[string]string{"actions": "read"}, nil)
	if err != nil {
		return nil, nil, err
	}
	found, err := c.ArtifactsNamed(ctx, cost.ArtifactName)
	if err != nil {
		return nil, nil, err
	}
	found = slices.DeleteFunc(found, func(a forge.Artifact) bool { return a.Expired })
	slices.SortStableFunc(found, func(a, b forge.Artifact) int { return b.Created.Compare(a.Created) })
	for _, artifact := range found[:min(len(found), maxFetchedAccounts)] {
		run, err := c.Run(ctx, artifact.Run)
		if errors.Is(err, forge.ErrNotFound) {
			continue
		}
		if err != nil {
			return nil, nil, err
		}
		if run.Fork {
			continue
		}
		a, err := fetchAccount(ctx, c, artifact)
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			bad = append(bad, fmt.Errorf("skipped artifact %d of run %d: %w", artifact.ID, artifact.Run, err))
			continue
		}
		a.Branch = run.Head.Branch
		list = append(list, a)
	}
	return list, bad, nil
}

// artifactStore lists and downloads artifacts of workflow runs.
type artifactStore interface {
	ArtifactsNamed(ctx context.Context, name string) ([]forge.Artifact, error)
	Run(ctx context.Context, id int64) (forge.Run, error)
	Download(ctx context.Context, a forge.Artifact, w io.Writer, limit int64) error
}

func fetchAccount(ctx context.Context, c artifactStore, artifact forge.Artifact) (cost.RunCost, error) {
	return fetchFile(ctx, c, artifact, cost.FileName, cost.Read)
}

// fetchFile reads one file of an artifact. Its content is untrusted: the job wrote it.
func fetchFile[T any](ctx context.Context, c artifactStore, artifact forge.Artifact, name string, read func(io.Reader) (T, error)) (found T, err error) {
	var packed bytes.Buffer
	if err := c.Download(ctx, artifact, &packed, 2*cost.FileLimit); err != nil {
		return found, err
	}
	dir, err := os.MkdirTemp("", "pawl-account-")
	if err != nil {
		return found, fmt.Errorf("cannot prepare temporary storage for an artifact: %w", err)
	}
	defer os.RemoveAll(dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return found, fmt.Errorf("cannot prepare temporary storage for an artifact: %w", err)
	}
	defer root.Close()
	limits := archive.Limits{
		Want: []archive.WantedFile{{Name: name, Most: cost.FileLimit}}, Entries: 16, Directory: 16 << 10, Total: cost.FileLimit,
	}
	if _, err := archive.Unpack(bytes.NewReader(packed.Bytes()), int64(packed.Len()), root, limits); err != nil {
		return found, err
	}
	file, err := root.Open(name)
	if err != nil {
		return found, fmt.Errorf("it has no %s: %w", name, err)
	}
	defer file.Close()
	return read(file)
}

// How long a report waits for the nightly summary, and the maximum age of a summary.
const (
	summaryTimeout = 5 * time.Second
	maxSummaryAge  = 7 * 24 * time.Hour
)

// latestCostSummary returns the summary of the last nightly job; nil if there is none. It is optional in a report.
func latestCostSummary(ctx context.Context, c artifactStore, now time.Time) *cost.Summary {
	ctx, cancel := context.WithTimeout(ctx, summaryTimeout)
	defer cancel()
	found, err := c.ArtifactsNamed(ctx, cost.SummaryArtifact)
	if err != nil {
		return nil
	}
	found = slices.DeleteFunc(found, func(a forge.Artifact) bool { return a.Expired || now.Sub(a.Created) > maxSummaryAge })
	if len(found) == 0 {
		return nil
	}
	newest := slices.MaxFunc(found, func(a, b forge.Artifact) int { return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID)) })
	run, err := c.Run(ctx, newest.Run)
	if err != nil || run.Fork || run.Pull { // a change must not report what changes cost
		return nil
	}
	sum, err := fetchFile(ctx, c, newest, cost.SummaryFile, cost.ReadSummary)
	if err != nil {
		return nil
	}
	return &sum
}
