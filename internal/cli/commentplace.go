package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/github"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/kernel/discover"
)

// githubAPI is the part of the GitHub API that publishing uses.
type githubAPI interface {
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

// publisher reads the GitHub Actions environment and the suite of the base.
func (f *commentFlags) publisher() (*publisher, error) {
	p := &publisher{commentFlags: f, now: time.Now()}
	if f.Now != nil {
		p.now = f.Now()
	}
	var err error
	if p.event, err = readEvent(f.Getenv("GITHUB_EVENT_NAME"), f.Getenv("GITHUB_EVENT_PATH")); err != nil {
		return p, usageError{err}
	}
	if p.repo, err = forge.ParseRepo(cmp.Or(f.repo, f.Getenv("GITHUB_REPOSITORY"))); err != nil {
		return p, usageError{fmt.Errorf("which repository? %w\n  name it with --repo OWNER/NAME, or run in GitHub Actions", err)}
	}
	if _, err := os.Stat(discover.SuiteFile); f.suite != "" || !errors.Is(err, fs.ErrNotExist) {
		if p.base, p.path, err = loadSuite(f.suite); err != nil {
			return p, err
		}
	}
	client, err := f.atGitHub(p.repo, identity.Publishing, func(format string, args ...any) { f.say(logText(fmt.Sprintf(format, args...))) })
	if p.offline = errors.Is(err, errNoToken); p.offline && f.dryRun {
		return p, nil
	}
	if err != nil {
		return p, err
	}
	p.forge = client
	return p, nil
}
