package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/goatnote-inc/pawl/internal/parcel"
	"github.com/goatnote-inc/pawl/measure"
)

// recordMost bounds a record that comes from another machine. A larger one is packed by
// pawl, and is read as a stream.
const recordMost = 64 << 20

// loadResults reads the records that a run on another machine left: of the run, and of the
// fresh rounds of what gained, where there are such.
func loadResults(dir string) (run, confirmed *measure.Run, err error) {
	own, err := os.MkdirTemp("", "pawl-results-")
	if err != nil {
		return nil, nil, fmt.Errorf("make a place for results: %w", err)
	}
	defer os.RemoveAll(own)
	root, err := os.OpenRoot(own)
	if err != nil {
		return nil, nil, fmt.Errorf("make a place for results: %w", err)
	}
	defer root.Close()
	limits := parcel.Limits{Total: 2 * recordMost}
	for _, name := range []string{"current.json", "current.json.zst", "confirm.json", "confirm.json.zst"} {
		limits.Want = append(limits.Want, parcel.Want{Name: name, Most: recordMost})
	}
	found, err := parcel.Open(dir, root, limits)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, nil, usageError{fmt.Errorf("%w\n  --results names the folder that pawl run left", err)}
	case err != nil:
		return nil, nil, codeError{exitNo, fmt.Errorf("%s: %w", dir, err)}
	case !found.Has("current.json") && !found.Has("current.json.zst"):
		return nil, nil, codeError{exitNoAnswer, fmt.Errorf("%s holds no current.json: nothing was measured there", dir)}
	}
	if run, err = measure.Load(filepath.Join(own, "current.json")); err != nil {
		return nil, nil, codeError{exitNo, fmt.Errorf("%s: %w", dir, err)}
	}
	if found.Has("confirm.json") || found.Has("confirm.json.zst") {
		if confirmed, err = measure.Load(filepath.Join(own, "confirm.json")); err != nil {
			return nil, nil, codeError{exitNo, fmt.Errorf("%s: %w", dir, err)}
		}
	}
	return run, confirmed, nil
}
