package daemon

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/server/blob"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fsck"
)

func newFsck(g *globals) *cobra.Command {
	var f fsckFlags
	c := &cobra.Command{
		Use:   "fsck",
		Short: "Check the integrity of all stored data",
		Long: `Reads the receipts, runs, points, tiles, file list and audit log of every project, and
reports each inconsistency with what to do about it. The server may keep running. Nothing
is changed, except with --collect, which removes files that nothing refers to.

--deep also reads every file and compares it with its digest, and recomputes the events of
every series. Run it after a restore.

Exit code: 0 when there are no problems, 1 when there are.`,
		Example: `  pawld fsck
  pawld fsck --deep --project kernels
  pawld fsck --collect`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return g.withBlobs(cmd.Context(), func(s *store.Store, b *blob.Bucket) error {
				return g.fsck(cmd.Context(), s, b, f)
			})
		},
	}
	c.Flags().StringVar(&f.project, "project", "", "only this project")
	c.Flags().BoolVar(&f.deep, "deep", false, "also read every file and recompute every event")
	c.Flags().BoolVar(&f.collect, "collect", false, "remove files that nothing refers to and that are older than two days")
	c.Flags().BoolVar(&f.json, "json", false, "print the result as JSON")
	return c
}

type fsckFlags struct {
	project             string
	deep, collect, json bool
}

func (g *globals) fsck(ctx context.Context, s *store.Store, b *blob.Bucket, f fsckFlags) error {
	o := fsck.Options{Blobs: b.All}
	if f.collect {
		o.Collect = b.Delete
	}
	if f.deep {
		o.Events = func(ctx context.Context, project int64) ([]fsck.Problem, error) {
			return checkEvents(ctx, s, project)
		}
	}
	if f.project != "" {
		p, err := project(ctx, s, f.project)
		if err != nil {
			return err
		}
		o.Project = p.ID
	}
	problems, err := fsck.Run(ctx, s, o)
	if err != nil {
		return err
	}
	if f.deep {
		torn, err := readBlobs(ctx, b, o.Project)
		if err != nil {
			return err
		}
		problems = append(problems, torn...)
	}
	return g.tellProblems(problems, f.json)
}

func (g *globals) tellProblems(problems []fsck.Problem, asJSON bool) error {
	if asJSON {
		if err := g.asJSON(append([]fsck.Problem{}, problems...)); err != nil {
			return err
		}
	} else {
		for _, p := range problems {
			fmt.Fprintln(g.Out, p)
		}
	}
	if len(problems) > 0 {
		return noError{errors.New(words.Plural(len(problems), "problem"))}
	}
	if !asJSON {
		fmt.Fprintln(g.Out, "no problems found")
	}
	return nil
}

// readBlobs compares every file of a project, or of all, with its digest.
func readBlobs(ctx context.Context, b *blob.Bucket, project int64) ([]fsck.Problem, error) {
	var problems []fsck.Problem
	look := func(id int64) error {
		for o, err := range b.All(ctx, id) {
			if err != nil {
				return err
			}
			sum, err := digestOf(ctx, b, o)
			var what string
			switch {
			case errors.Is(err, blob.ErrNotFound):
				continue // deleted meanwhile
			case errors.Is(err, blob.ErrDamaged), err == nil && sum != o.Digest:
				what = fmt.Sprintf("the content of file %s does not match its digest", o.Digest)
			case err != nil:
				what = fmt.Sprintf("cannot read file %s: %v", o.Digest, err)
			default:
				continue
			}
			problems = append(problems, fsck.Problem{
				Project: id, Kind: "blob", What: what,
				Do: "Restore it from a backup of the object storage, or send the run again.",
			})
		}
		return nil
	}
	if project != 0 {
		err := look(project) // before problems is read
		return problems, err
	}
	for id, err := range b.Projects(ctx) {
		if err != nil {
			return problems, err
		}
		if err := look(id); err != nil {
			return problems, err
		}
	}
	return problems, nil
}

func digestOf(ctx context.Context, b *blob.Bucket, o blob.Object) (string, error) {
	r, err := b.Get(ctx, o.Project, o.Digest)
	if err != nil {
		return "", err
	}
	defer r.Close()
	h := sha256.New()
	if _, err := io.Copy(h, r); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
