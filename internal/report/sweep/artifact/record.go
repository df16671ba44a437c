package artifact

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/measure"
)

// safeID matches an ID that is safe in a file name.
var safeID = lazyregexp.New(`^[A-Za-z0-9_-]{1,64}$`)

// Name returns the name of a run's artifact. The ID in a record may be anything.
func Name(run *measure.Run) string {
	if safeID.MatchString(run.ID) {
		return "sweep-" + run.ID
	}
	return "sweep"
}

// ArchiveOf returns the archive path for an artifact's folder.
func ArchiveOf(dir string) string { return filepath.Clean(dir) + ".tar.gz" }

// CopyRecord copies the record read from a file into the folder unchanged, and returns its
// name there. It first converts a journal to a document.
func CopyRecord(dir, from string, run *measure.Run) (string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", fmt.Errorf("cannot create the folder of the artifact: %w", err)
	}
	if _, err := os.Stat(from); errors.Is(err, fs.ErrNotExist) && run.Digest != "" {
		from += ".zst" // the file that measure.Load read instead
	}
	name := "current.json"
	if run.Digest == "" { // a journal has none
		return name, measure.Save(filepath.Join(dir, name), run)
	}
	if strings.HasSuffix(from, ".zst") {
		name += ".zst"
	}
	if err := copyFile(filepath.Join(dir, name), from); err != nil {
		return "", fmt.Errorf("cannot copy the record %s: %w", from, err)
	}
	return name, nil
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	return disk.Replace(to, 0o644, func(w io.Writer) error {
		_, err := io.Copy(w, in)
		return err
	})
}
