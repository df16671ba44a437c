// Package accounts reads what runs cost from the artifacts of a repository's workflows. Their
// content is untrusted: the jobs wrote it. Which runs count is decided by what the forge says of
// them. The package must not know any forge's API.
package accounts

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
	"github.com/goatnote-inc/pawl/internal/base/scratch"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/judge/cost"
)

// maxFetched is how many accounts are added up. Each takes two requests, and a repository's
// token allows a thousand an hour.
const maxFetched = 100

// Fetch returns the newest accounts of a repository's own runs. Whether a run is from a fork, and its
// branch, come from the forge. Accounts that cannot be read are left out and returned in bad.
func Fetch(ctx context.Context, c forge.Client) (list []cost.RunCost, bad []error, err error) {
	found, err := c.ArtifactsNamed(ctx, cost.ArtifactName)
	if err != nil {
		return nil, nil, err
	}
	found = slices.DeleteFunc(found, func(a forge.Artifact) bool { return a.Expired })
	slices.SortStableFunc(found, func(a, b forge.Artifact) int { return b.Created.Compare(a.Created) })
	for _, artifact := range found[:min(len(found), maxFetched)] {
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
		a, err := fetchFile(ctx, c, artifact, cost.FileName, cost.Read)
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

// fetchFile reads one file of an artifact.
func fetchFile[T any](ctx context.Context, c forge.Client, artifact forge.Artifact, name string, read func(io.Reader) (T, error)) (found T, err error) {
	var packed bytes.Buffer
	if err := c.Download(ctx, artifact, &packed, 2*cost.FileLimit); err != nil {
		return found, err
	}
	folder, err := scratch.New("", "account")
	if err != nil {
		return found, fmt.Errorf("cannot prepare temporary storage for an artifact: %w", err)
	}
	defer folder.Remove()
	root, err := os.OpenRoot(folder.Path)
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

// How long LatestSummary waits for the forge, and the maximum age of a summary.
const (
	summaryTimeout = 5 * time.Second
	maxSummaryAge  = 7 * 24 * time.Hour
)

// LatestSummary returns the summary of the last nightly job; nil if there is none, or none in time. It is optional
// in a report.
func LatestSummary(ctx context.Context, c forge.Client, now time.Time) *cost.Summary {
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
