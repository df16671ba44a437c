package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/goatnote-inc/pawl/internal/build"
	"github.com/goatnote-inc/pawl/internal/doctor"
	"github.com/goatnote-inc/pawl/internal/forge"
	"github.com/goatnote-inc/pawl/internal/forge/github"
)

// examineGitHub asks what pawl doctor --github asks.
func (f *doctorFlags) examineGitHub(ctx context.Context) error {
	dir := "."
	if repo, err := build.Open(ctx, "."); err == nil {
		dir = repo.Root
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("look into %s: %w", dir, err)
	}
	defer root.Close()
	found := doctor.ExamineGitHub(ctx, doctor.GitHubOptions{
		Workflows: workflowFiles(root), Getenv: f.Getenv, Root: os.DirFS("/"), Parent: os.Getppid(), Public: f.public,
	})
	if !f.json {
		if err := writeFindings(f.Out, f.style(), found); err != nil {
			return err
		}
	}
	return f.answer(found, nil, nil)
}

// public asks GitHub, where there is a token to ask with.
func (f *doctorFlags) public(ctx context.Context) (bool, error) {
	token := f.Getenv("GITHUB_TOKEN")
	owner, name, ok := strings.Cut(f.Getenv("GITHUB_REPOSITORY"), "/")
	if token == "" || !ok {
		return false, errors.New("neither the event of the job nor a token tells")
	}
	c, err := github.New(github.Config{
		BaseURL: f.Getenv("GITHUB_API_URL"), Repo: forge.Repo{Owner: owner, Name: name},
		Token: func(context.Context) (string, error) { return token, nil },
	})
	if err != nil {
		return false, err
	}
	return c.Visibility(ctx)
}
