package start

import (
	"context"
	"fmt"
	"os"

	"github.com/goatnote-inc/pawl/internal/doctor"
	"github.com/goatnote-inc/pawl/internal/forge/workflow"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
)

// examineGitHub runs the checks of pawl doctor --github.
func (f *doctorFlags) examineGitHub(ctx context.Context) error {
	dir := "."
	if repo, err := build.Open(ctx, "."); err == nil {
		dir = repo.Root
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("cannot open %s: %w", dir, err)
	}
	defer root.Close()
	found := doctor.ExamineCI(ctx, workflow.Files(root.FS()), workflow.Job{Getenv: f.Getenv, Root: os.DirFS("/"), Parent: os.Getppid(), Public: f.public})
	if !f.JSON {
		if err := writeFindings(f.Out, f.Style(), found); err != nil {
			return err
		}
	}
	return f.answer(found, nil, nil)
}

// public asks GitHub whether the repository is public. It needs a token.
func (f *doctorFlags) public(ctx context.Context) (bool, error) {
	c, _, err := f.AtForge("", map[string]string{"metadata": "read"}, nil)
	if err != nil {
		return false, err
	}
	return c.Visibility(ctx)
}
