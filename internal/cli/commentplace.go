package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/github"
	"github.com/goatnote-inc/pawl/internal/scout"
)

// place is what publishing asks of GitHub.
type place interface {
	Pull(ctx context.Context, number int) (forge.Pull, error)
	PullsOf(ctx context.Context, head forge.Head) ([]forge.Pull, error)
	Run(ctx context.Context, id int64) (forge.Run, error)
	Runs(ctx context.Context, q github.RunQuery) ([]forge.Run, error)
	Artifacts(ctx context.Context, run int64) ([]forge.Artifact, error)
	ArtifactsNamed(ctx context.Context, name string) ([]forge.Artifact, error)
	Download(ctx context.Context, a forge.Artifact, w io.Writer, limit int64) error
	Comments(ctx context.Context, pull int) ([]forge.Comment, error)
	Permission(ctx context.Context, user string) (forge.Permission, error)
	File(ctx context.Context, ref, path string) ([]byte, error)
	MergeBase(ctx context.Context, base, head string) (string, error)
	Report(ctx context.Context, pull int, s forge.Section) (string, error)
	SetCheck(ctx context.Context, c forge.Check) (string, error)
}

// publisher reads what the environment of Actions says, and the base's suite.
func (f *commentFlags) publisher() (*publisher, error) {
	p := &publisher{commentFlags: f, now: time.Now()}
	if f.Now != nil {
		p.now = f.Now()
	}
	var err error
	if p.event, err = readEvent(f.Getenv("GITHUB_EVENT_NAME"), f.Getenv("GITHUB_EVENT_PATH")); err != nil {
		return p, usageError{err}
	}
	owner, name, ok := strings.Cut(cmp.Or(f.repo, f.Getenv("GITHUB_REPOSITORY")), "/")
	if !ok {
		return p, usageError{errors.New("which repository? Name it with --repo OWNER/NAME, or run in GitHub Actions")}
	}
	p.repo = forge.Repo{Owner: owner, Name: name}
	if _, err := os.Stat(scout.SuiteFile); f.suite != "" || !errors.Is(err, fs.ErrNotExist) {
		if p.base, p.path, err = loadSuite(f.suite); err != nil {
			return p, err
		}
	}
	token := f.Getenv("GITHUB_TOKEN")
	if p.offline = token == ""; p.offline && !f.dryRun {
		return p, codeError{exitCannot, errors.New("no token: set GITHUB_TOKEN to one that may write checks and pull requests")}
	}
	p.forge, err = github.New(github.Config{
		BaseURL: f.Getenv("GITHUB_API_URL"), Repo: p.repo,
		Token: func(context.Context) (string, error) { return token, nil },
		Now:   f.Now, Sleep: f.Sleep,
		Log: func(format string, args ...any) { f.say(logText(fmt.Sprintf(format, args...))) },
	})
	if err != nil {
		return p, usageError{err}
	}
	return p, nil
}
