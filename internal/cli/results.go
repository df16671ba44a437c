package cli

import (
	"errors"
	"fmt"
	"os"

	"github.com/goatnote-inc/pawl/internal/base/archive"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/forge/untrusted"
	"github.com/goatnote-inc/pawl/measure"
)

// receivedFiles are files from another machine, copied to a private folder. The caller that opens them must
// close them.
type receivedFiles struct {
	dir  string // private copy
	from string // original folder, for messages
}

// openReceived copies the wanted files out of a folder, each up to its size limit.
func openReceived(from string, want ...archive.WantedFile) (*receivedFiles, error) {
	dir, err := os.MkdirTemp("", "pawl-results-")
	if err != nil {
		return nil, fmt.Errorf("cannot prepare temporary storage for results: %w", err)
	}
	s := &receivedFiles{dir, from}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	defer root.Close()
	limits := untrusted.Limits()
	limits.Want, limits.Total = want, 0
	for _, w := range want {
		limits.Total += w.Most
	}
	switch _, err := archive.Open(from, root, limits); {
	case errors.Is(err, os.ErrNotExist):
		return nil, errors.Join(command.Usage(fmt.Errorf("%w\n  set --results to the folder with the results", err)), s.close())
	case err != nil:
		return nil, errors.Join(s.refuse(err), s.close())
	}
	return s, nil
}

func (s *receivedFiles) close() error { return os.RemoveAll(s.dir) }

// refuse adds the original folder to an error about its files.
func (s *receivedFiles) refuse(err error) error {
	return command.Exit(command.ExitFailed, fmt.Errorf("%s: %w", s.from, err))
}

// recordFiles returns the possible names of a record: plain or compressed.
func recordFiles(name string) []archive.WantedFile {
	most := int64(0)
	for _, w := range untrusted.Limits().Want {
		most = max(most, w.Most)
	}
	return []archive.WantedFile{{Name: name, Most: most}, {Name: name + ".zst", Most: most}}
}

// loadResults reads the records of a run on another machine: that of the run, and that of the fresh
// rounds that confirm gains; nil if there are none.
func loadResults(from string) (run, confirmed *measure.Run, err error) {
	s, err := openReceived(from, append(recordFiles("current.json"), recordFiles("confirm.json")...)...)
	if err != nil {
		return nil, nil, err
	}
	defer s.close()
	if run, err = untrusted.ReadRecord(s.dir, "current.json"); err != nil {
		return nil, nil, s.refuse(err)
	}
	if run == nil {
		return nil, nil, command.Exit(command.ExitNoAnswer, fmt.Errorf("%s has no current.json: nothing was measured there", from))
	}
	if confirmed, err = untrusted.ReadRecord(s.dir, "confirm.json"); err != nil {
		return nil, nil, s.refuse(err)
	}
	return run, confirmed, nil
}
