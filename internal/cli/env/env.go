package env

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/judge/ledger"
	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/build"
	"github.com/goatnote-inc/pawl/internal/kernel/discover"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

// Env is what every command of pawl shares.
type Env struct {
	*command.Globals
	Journal Journal // nil if no session is open
}

// Journal records what a command did.
type Journal interface {
	Event(runner.Event) // an event of a run
	Record(result any)  // a result, such as a doctor.Report
}

// Event tells the journal of an event. It does nothing if no session is open.
func (g *Env) Event(e runner.Event) {
	if g.Journal != nil {
		g.Journal.Event(e)
	}
}

// Record tells the journal of a result. It does nothing if no session is open.
func (g *Env) Record(result any) {
	if g.Journal != nil {
		g.Journal.Record(result)
	}
}

// LoadSuite reads the named suite file, or pawl.yaml in this folder.
func LoadSuite(name string) (*suite.Suite, string, error) {
	path := cmp.Or(name, discover.SuiteFile)
	s, err := suite.Load(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && name == "":
		return nil, "", command.Usage(errors.New("no pawl.yaml in this folder\n  run `pawl init` to write one, or use -C FOLDER or --suite FILE"))
	case err != nil:
		return nil, "", command.Usage(err) // the user named the file that cannot be read
	}
	return s, path, nil
}

// FindBase finds the merge base and prints which commit it chose. The error says why there is none.
func (g *Env) FindBase(ctx context.Context, needed []string) (string, error) {
	repo, err := build.Open(ctx, ".")
	if err != nil {
		return "", build.ErrNoRepository
	}
	commit, with, err := repo.MergeBase(ctx)
	if err != nil {
		return "", err
	}
	for _, name := range needed {
		if !repo.Has(ctx, commit, name) {
			return "", fmt.Errorf("%s is not in commit %.12s (%s)", name, commit, with)
		}
	}
	fmt.Fprintf(g.Err, "measuring against %.12s (%s)\n", commit, with)
	return commit, nil
}

// LedgerLocation returns where a suite keeps its ledger.
func LedgerLocation(b suite.Baseline, dir string) ledger.Location {
	w := ledger.Location{
		Dir:  dir,
		Wait: func(most time.Duration) time.Duration { return time.Duration(rand.Int64N(int64(most) + 1)) },
	}
	if b.Keep == "branch" {
		w.Branch, w.Remote = b.Branch, b.Remote
		return w
	}
	w.File = b.File
	return w
}

// WriteFile replaces a file atomically, so that readers never see half of it.
func WriteFile(path string, content func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("cannot create the folder for %s: %w", path, err)
	}
	if err := disk.Replace(path, 0o644, content); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// Exists reports whether a file, folder or link exists at path.
func Exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// LogText makes untrusted text safe for a workflow log. The runner interprets lines that start with
// "::", and "##[" anywhere in a line, as commands.
func LogText(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		lines = append(lines, words.Sanitize(line))
	}
	return runnerCommandEscaper.Replace(strings.Join(lines, "\n  "))
}

var runnerCommandEscaper = strings.NewReplacer("::", ": :", "##[", "## [")
