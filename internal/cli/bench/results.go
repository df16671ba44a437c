package bench

import (
	"errors"
	"fmt"
	"os"

	"github.com/goatnote-inc/pawl/internal/base/archive"
	"github.com/goatnote-inc/pawl/internal/base/scratch"
	"github.com/goatnote-inc/pawl/internal/cli/command"
	"github.com/goatnote-inc/pawl/internal/forge/untrusted"
	"github.com/goatnote-inc/pawl/measure"
)

// ReceivedFiles are files from another machine, copied to a private folder. The caller that opens them must
// close them.
type ReceivedFiles struct {
	Dir  string // private copy
	From string // original folder, for messages

	folder *scratch.Folder // Dir, locked
}

// OpenReceived copies the wanted files out of a folder, each up to its size limit.
func OpenReceived(from string, want ...archive.WantedFile) (*ReceivedFiles, error) {
	folder, err := scratch.New("", "results")
	if err != nil {
		return nil, fmt.Errorf("cannot prepare temporary storage for results: %w", err)
	}
	s := &ReceivedFiles{Dir: folder.Path, From: from, folder: folder}
	root, err := os.OpenRoot(s.Dir)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	defer root.Close()
	limits := untrusted.Limits()
	limits.Want, limits.Total = want, 0
	for _, w := range want {
		limits.Total += w.Most
	}
	switch _, err := archive.Open(from, root, limits); {
	case errors.Is(err, os.ErrNotExist):
		return nil, errors.Join(command.Usage(fmt.Errorf("%w\n  set --results to the folder with the results", err)), s.Close())
	case err != nil:
		return nil, errors.Join(s.Refuse(err), s.Close())
	}
	return s, nil
}

// Close deletes the private copy.
func (s *ReceivedFiles) Close() error { return s.folder.Remove() }

// Refuse adds the original folder to an error about its files.
func (s *ReceivedFiles) Refuse(err error) error {
	return command.Exit(command.ExitFailed, fmt.Errorf("%s: %w", s.From, err))
}

// RecordFiles returns the possible names of a record: plain or compressed.
func RecordFiles(name string) []archive.WantedFile {
	most := int64(0)
	for _, w := range untrusted.Limits().Want {
		most = max(most, w.Most)
	}
	return []archive.WantedFile{{Name: name, Most: most}, {Name: name + ".zst", Most: most}}
}

// LoadResults reads the records of a run on another machine: that of the run, and that of the fresh
// rounds that confirm gains; nil if there are none.
func LoadResults(from string) (run, confirmed *measure.Run, err error) {
	s, err := OpenReceived(from, append(RecordFiles("current.json"), RecordFiles("confirm.json")...)...)
	if err != nil {
		return nil, nil, err
	}
	defer s.Close()
	if run, err = untrusted.ReadRecord(s.Dir, "current.json"); err != nil {
		return nil, nil, s.Refuse(err)
	}
	if run == nil {
		return nil, nil, command.Exit(command.ExitNoAnswer, fmt.Errorf("%s has no current.json: nothing was measured there", from))
	}
	if confirmed, err = untrusted.ReadRecord(s.Dir, "confirm.json"); err != nil {
		return nil, nil, s.Refuse(err)
	}
	return run, confirmed, nil
}
