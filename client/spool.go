package client

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/base/failpoint"
)

// Spool is a directory of reports that wait to be sent. A report survives a crash of the machine once Add
// has returned. Any number of processes may use a spool at the same time.
type Spool struct {
	Dir string
	Now func() time.Time // time.Now if nil
}

// Destination is the server and project that a report is sent to.
type Destination struct {
	Server  string `json:"server"`
	Project string `json:"project"`
}

// Spooled is a report that waits to be sent.
type Spooled struct {
	To   Destination
	Key  string
	Run  string
	Body []byte // exact bytes to send, the same on every attempt
	// Blobs lists the blobs named by the report.
	Blobs []Blob

	dir string
}

// Open opens a blob for reading.
func (p *Spooled) Open(b Blob) (io.ReadCloser, error) {
	return os.Open(filepath.Join(p.dir, b.Digest))
}

// The files of a waiting report. Its blobs are next to them, named by their digests.
const (
	spooledTo   = "to.json"
	spooledBody = "report.json"
	whyRefused  = "refused.txt"
)

// Prefixes of directories that are not waiting reports.
const (
	newPrefix     = ".new-"
	donePrefix    = ".done-"
	refusedPrefix = "refused-"
)

// Add adds a report and its files to the spool. If a report of the same run is already waiting, Add leaves
// it unchanged and returns it: the server may already have it, and would reject a second one with different
// bytes.
func (s Spool) Add(to Destination, r *Report, files []File) (*Spooled, error) {
	p, err := s.add(to, r, files)
	if err != nil {
		return nil, fmt.Errorf("cannot add the report of run %s to the spool %s: %w", r.Run, s.Dir, err)
	}
	return p, nil
}

func (s Spool) add(to Destination, r *Report, files []File) (*Spooled, error) {
	if err := r.Check(timeBy(s.Now)); err != nil {
		return nil, err
	}
	body, err := Encode(r)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(s.Dir, 0o700); err != nil {
		return nil, err
	}
	name := spoolName(to, r.Run)
	if p, err := s.load(name); err == nil {
		return p, nil
	}
	dir, err := os.MkdirTemp(s.Dir, newPrefix)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) // already renamed on success
	if err := fillSpool(dir, to, body, files); err != nil {
		return nil, err
	}
	failpoint.At("spool.written")
	if err := os.Rename(dir, filepath.Join(s.Dir, name)); err != nil {
		if p, loadErr := s.load(name); loadErr == nil {
			return p, nil // another process was faster
		}
		return nil, err
	}
	if err := disk.SyncDir(s.Dir); err != nil {
		return nil, err
	}
	failpoint.At("spool.placed")
	return s.load(name)
}

func fillSpool(dir string, to Destination, body []byte, files []File) error {
	for _, f := range files {
		if err := spoolFile(dir, f); err != nil {
			return fmt.Errorf("copy %s: %w", f.Name, err)
		}
	}
	failpoint.At("spool.begun")
	text, err := json.Marshal(to)
	if err != nil {
		return err
	}
	for name, data := range map[string][]byte{spooledTo: text, spooledBody: body} {
		if err := writeSynced(filepath.Join(dir, name), strings.NewReader(string(data))); err != nil {
			return err
		}
	}
	return disk.SyncDir(dir)
}

// spoolFile copies a file. It fails if the file has changed since its digest was computed.
func spoolFile(dir string, f File) error {
	r, err := f.Open()
	if err != nil {
		return err
	}
	defer r.Close()
	sum := sha256.New()
	if err := writeSynced(filepath.Join(dir, f.Digest), io.TeeReader(io.LimitReader(r, f.Size+1), sum)); err != nil {
		return err
	}
	if hex.EncodeToString(sum.Sum(nil)) != f.Digest {
		return errors.New("the file changed while it was read: push again")
	}
	return nil
}

func writeSynced(path string, r io.Reader) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, r)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// spoolName returns a name that sorts by the time of the run and is distinct for each destination.
func spoolName(to Destination, run string) string {
	sum := sha256.Sum256([]byte(to.Server + "\n" + to.Project))
	return run + "-" + hex.EncodeToString(sum[:4])
}

func (s Spool) load(name string) (*Spooled, error) {
	p := &Spooled{dir: filepath.Join(s.Dir, name)}
	text, err := os.ReadFile(filepath.Join(p.dir, spooledTo))
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &p.To); err != nil {
		return nil, fmt.Errorf("%s: %w", spooledTo, err)
	}
	f, err := os.Open(filepath.Join(p.dir, spooledBody))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if p.Body, err = io.ReadAll(io.LimitReader(f, MaxReport+1)); err != nil {
		return nil, err
	}
	r, err := Decode(p.Body, timeBy(s.Now))
	if err != nil {
		return nil, err
	}
	p.Key, p.Run, p.Blobs = Key(r), r.Run, r.Blobs
	return p, nil
}

// Pending returns the waiting reports, oldest first. The error describes those that cannot be read; the
// others are returned with it.
func (s Spool) Pending() ([]*Spooled, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("cannot read the spool: %w", err)
	}
	var list []*Spooled
	var errs []error
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasPrefix(name, newPrefix), strings.HasPrefix(name, donePrefix):
			s.sweep(e)
		case strings.HasPrefix(name, refusedPrefix) || !e.IsDir():
		default:
			p, err := s.load(name)
			if err == nil {
				list = append(list, p)
			} else if !errors.Is(err, fs.ErrNotExist) { // another process just sent it
				errs = append(errs, fmt.Errorf("cannot read %s: %w: move it away to continue without it", filepath.Join(s.Dir, name), err))
			}
		}
	}
	return list, errors.Join(errs...)
}

// sweep removes what a killed process left behind. A directory that is still being written is younger than
// a day.
func (s Spool) sweep(e fs.DirEntry) {
	info, err := e.Info()
	if err == nil && (strings.HasPrefix(e.Name(), donePrefix) || timeBy(s.Now).Sub(info.ModTime()) > 24*time.Hour) {
		_ = os.RemoveAll(filepath.Join(s.Dir, e.Name()))
	}
}

// Done removes a report that the server has acknowledged. It renames the report first and then deletes its
// files, so that a crash in between leaves nothing that looks like a report.
func (s Spool) Done(p *Spooled) error {
	away := filepath.Join(s.Dir, donePrefix+filepath.Base(p.dir))
	if err := os.RemoveAll(away); err != nil { // left by a killed process
		return fmt.Errorf("cannot remove the report of run %s from the spool: %w", p.Run, err)
	}
	err := os.Rename(p.dir, away)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // already removed by another process
	}
	if err != nil {
		return fmt.Errorf("cannot remove the report of run %s from the spool: %w", p.Run, err)
	}
	failpoint.At("spool.leaving")
	return errors.Join(disk.SyncDir(s.Dir), os.RemoveAll(away))
}

// Reject sets aside a report that the server will never accept, together with the reason. It returns the
// new path.
func (s Spool) Reject(p *Spooled, why string) (string, error) {
	aside := filepath.Join(s.Dir, refusedPrefix+filepath.Base(p.dir))
	if err := os.RemoveAll(aside); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(p.dir, whyRefused), []byte(why+"\n"), 0o600); err != nil {
		return "", err
	}
	return aside, os.Rename(p.dir, aside)
}
