package cli

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/goatnote-inc/pawl/internal/account"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/github"
	"github.com/goatnote-inc/pawl/internal/parcel"
)

// accountsFetched is how many accounts are added up: each costs two requests, and a
// repository's token has a thousand an hour.
const accountsFetched = 100

// remote fetches the accounts of a repository's own runs. Whether a run is a fork's, and
// of which branch it is, is the forge's word.
func (f *costFlags) remote(ctx context.Context) (list []account.Account, bad []error, err error) {
	c, err := f.client()
	if err != nil {
		return nil, nil, err
	}
	found, err := c.ArtifactsNamed(ctx, account.ArtifactName)
	if err != nil {
		return nil, nil, err
	}
	found = slices.DeleteFunc(found, func(a forge.Artifact) bool { return a.Expired })
	slices.SortStableFunc(found, func(a, b forge.Artifact) int { return b.Created.Compare(a.Created) })
	for _, artifact := range found[:min(len(found), accountsFetched)] {
		run, err := c.Run(ctx, artifact.Run)
		if errors.Is(err, github.ErrGone) {
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
			bad = append(bad, fmt.Errorf("left out: artifact %d of run %d: %w", artifact.ID, artifact.Run, err))
			continue
		}
		a.Branch = run.Head.Branch
		list = append(list, a)
	}
	return list, bad, nil
}

func (f *costFlags) client() (*github.Client, error) {
	repo, err := forge.ParseRepo(cmp.Or(f.repo, f.Getenv("GITHUB_REPOSITORY")))
	if err != nil {
		return nil, usageError{fmt.Errorf("%w\n  --repo OWNER/NAME names it", err)}
	}
	token := f.Getenv("GITHUB_TOKEN")
	if token == "" {
		return nil, usageError{errors.New("--github needs GITHUB_TOKEN, with actions: read")}
	}
	return github.New(github.Config{
		BaseURL: f.Getenv("GITHUB_API_URL"), Repo: repo, Patience: time.Minute,
		Token: func(context.Context) (string, error) { return token, nil },
	})
}

// fetchAccount reads the one file of an artifact, which is whoever ran the job's.
func fetchAccount(ctx context.Context, c *github.Client, artifact forge.Artifact) (a account.Account, err error) {
	var archive bytes.Buffer
	if err := c.Download(ctx, artifact, &archive, 2*account.FileLimit); err != nil {
		return a, err
	}
	dir, err := os.MkdirTemp("", "pawl-account-")
	if err != nil {
		return a, fmt.Errorf("make a place for an account: %w", err)
	}
	defer os.RemoveAll(dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return a, fmt.Errorf("make a place for an account: %w", err)
	}
	defer root.Close()
	limits := parcel.Limits{
		Want: []parcel.Want{{Name: account.FileName, Most: account.FileLimit}}, Entries: 16, Directory: 16 << 10, Total: account.FileLimit,
	}
	if _, err := parcel.Unpack(bytes.NewReader(archive.Bytes()), int64(archive.Len()), root, limits); err != nil {
		return a, err
	}
	file, err := root.Open(account.FileName)
	if err != nil {
		return a, fmt.Errorf("it holds no %s: %w", account.FileName, err)
	}
	defer file.Close()
	return account.Read(file)
}
