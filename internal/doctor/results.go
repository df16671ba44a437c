package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/measure"
)

// Limits for the free space on the disk of the results. A run of a thousand cases with the default
// settings takes a few hundred megabytes while it is written.
const (
	minSpaceWarn = 1 << 30
	minSpace     = 16 << 20
)

// results reports whether records can be written.
func results(_ context.Context, e *exam) []Finding {
	folder := e.Results
	for {
		info, err := os.Stat(folder)
		if err == nil && !info.IsDir() {
			return []Finding{missing("results", "%s is a file, but records need a folder there", folder).withFix("move it away: mv %s %s.old", folder, folder)}
		}
		if !errors.Is(err, fs.ErrNotExist) || folder == filepath.Dir(folder) {
			break
		}
		folder = filepath.Dir(folder) // pawl bench creates missing folders
	}
	if err := unix.Access(folder, unix.W_OK|unix.X_OK); err != nil {
		return []Finding{missing("results", "cannot write records to %s: %v", e.Results, err).withFix("sudo chown $USER %s, or choose another folder with --out", folder)}
	}
	free, err := e.Free(folder)
	switch {
	case err != nil:
		return []Finding{note("results", "%s is writable; the free space on its disk is not known: %v", e.Results, err)}
	case free < minSpace:
		return []Finding{missing("results", "the disk of %s is full: %s left", e.Results, mebibytes(free)).withFix("free some space, or choose another folder with --out")}
	case free < minSpaceWarn:
		return []Finding{warn("results", "the disk of %s is nearly full: %s left", e.Results, mebibytes(free)).withFix("free some space, or choose another folder with --out")}
	default:
		return []Finding{ok("results", "%s is writable, %.0f GiB free", e.Results, float64(free)/(1<<30))}
	}
}

func mebibytes(n int64) string { return fmt.Sprintf("%d MiB", n>>20) }

// freeBytes returns the space available to this user.
func freeBytes(folder string) (int64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(folder, &s); err != nil {
		return 0, fmt.Errorf("cannot get the free space of %s: %w", folder, err)
	}
	return int64(s.Bavail) * s.Bsize, nil
}

// interrupted reports runs that ended early, and what happens to them.
func interrupted(_ context.Context, e *exam) []Finding {
	journals, _ := filepath.Glob(filepath.Join(e.Results, "*.journal")) // fails only on a bad pattern
	var list []Finding
	for _, journal := range journals {
		if e.lockState.Holder != nil {
			list = append(list, note("interrupted", "%s is being written, or is from an interrupted run: %s has the device", journal, *e.lockState.Holder))
			continue
		}
		list = append(list, leftJournal(journal))
	}
	return list
}

func leftJournal(journal string) Finding {
	next := map[string]string{"current": "pawl bench", "noise": "pawl doctor --noise"}[strings.TrimSuffix(filepath.Base(journal), ".journal")]
	if next == "" {
		next = "run with the same --out"
	}
	run, err := measure.ScanFile(journal, func(*measure.Case, measure.CaseRound) error { return nil })
	switch {
	case errors.Is(err, measure.ErrNotRecord):
		return note("interrupted", "%s is from a run that ended before its first round: the next %s removes it", journal, next)
	case err != nil:
		// bench refuses to continue rather than lose measured data.
		return missing("interrupted", "an interrupted run cannot be saved: %v", err).withFix("move it away: mv %s %s.damaged", journal, journal)
	default:
		return note("interrupted", "a run was interrupted after %s: the next %s saves it as %s", words.Plural(len(run.Rounds), "round"), next,
			filepath.Join(filepath.Dir(journal), "interrupted-TIME.json"))
	}
}
