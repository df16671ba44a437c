package submit

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// Terms are what an owner grants. They are kept with the attempts and do not change while there are any: the
// beginning stays the beginning.
type Terms struct {
	Base   string        `json:"base"`             // full commit that every speed-up is relative to
	Trust  measure.Trust `json:"trust"`            // how far candidates are trusted
	Budget float64       `json:"budget,omitempty"` // seconds that all attempts may take together; 0 for no limit
}

// Grant is what submissions are judged by.
type Grant struct {
	Terms
	Dir     string // folder of the suite in the working tree
	Suite   string // name of the suite file in it
	Folder  string // where attempts are kept
	LockDir string // of the device; empty for the usual one
	Wait    time.Duration
	Version string
	Now     func() time.Time
	Emit    func(runner.Event) // gets the events of runs; nil for none

	repo   *build.Repository
	inside string // path of Dir in the repository
}

// grantFile holds the terms, beside the attempts.
const grantFile = "grant.json"

// Open reads the terms of a grant. If there are none yet, it writes those given: by default the current
// commit as base, and candidates checked by pawl's own launcher in a confined build.
func Open(ctx context.Context, g Grant, first Terms) (*Grant, error) {
	if g.Now == nil {
		g.Now = time.Now
	}
	var err error
	if g.Dir, err = filepath.Abs(g.Dir); err != nil {
		return nil, err
	}
	if g.repo, err = build.Open(ctx, g.Dir); err != nil {
		return nil, fmt.Errorf("a submission requires a git repository: %w", err)
	}
	if g.inside, err = g.repo.Inside(g.Dir); err != nil {
		return nil, err
	}
	if g.Folder == "" {
		g.Folder = filepath.Join(g.Dir, ".pawl", "attempts", strings.TrimSuffix(g.Suite, filepath.Ext(g.Suite)))
	}
	path := filepath.Join(g.Folder, grantFile)
	text, err := disk.ReadRegular(path, 64<<10)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if s, err := suite.Load(filepath.Join(g.Dir, g.Suite)); err == nil && first.Trust == "" && withoutLaunch(s) != "" {
			return nil, ErrNoLaunch // nothing is fixed yet: the owner can choose
		}
		return &g, g.begin(ctx, path, first)
	case err != nil:
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&g.Terms); err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	if err := g.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if first != (Terms{}) {
		if first.Base != "" {
			if first.Base, err = g.repo.Commit(ctx, first.Base); err != nil {
				return nil, err
			}
		}
		if first = first.or(g.Terms); first != g.Terms {
			return nil, fmt.Errorf("attempts already exist with the base %.12s and trust %s: remove %s to start again", g.Base, g.Trust, g.Folder)
		}
	}
	return &g, nil
}

// begin writes the terms of a new grant.
func (g *Grant) begin(ctx context.Context, path string, first Terms) (err error) {
	g.Terms = first.or(Terms{Base: "HEAD", Trust: measure.Checked})
	if g.Base, err = g.repo.Commit(ctx, g.Base); err != nil {
		return err
	}
	if err := g.check(); err != nil {
		return err
	}
	text, err := json.MarshalIndent(g.Terms, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(g.Folder, 0o755); err != nil {
		return fmt.Errorf("cannot create the folder of attempts: %w", err)
	}
	ignore := filepath.Join(g.Folder, ".gitignore") // attempts are no part of the repository
	return errors.Join(disk.WriteAtomic(ignore, []byte("*\n")), disk.WriteAtomic(path, append(text, '\n')))
}

func (t Terms) or(other Terms) Terms {
	if t.Base == "" {
		t.Base = other.Base
	}
	if t.Trust == "" {
		t.Trust = other.Trust
	}
	if t.Budget == 0 {
		t.Budget = other.Budget
	}
	return t
}

func (t Terms) check() error {
	switch {
	case t.Trust != measure.Trusted && t.Trust != measure.Checked && t.Trust != measure.SelfTimed:
		return fmt.Errorf("trust %q: must be trusted, checked or self-timed", t.Trust)
	case t.Budget < 0:
		return fmt.Errorf("budget %v: must be a number of seconds, or 0 for no limit", t.Budget)
	case t.Base == "":
		return errors.New("base is empty: must be a commit")
	}
	return nil
}
