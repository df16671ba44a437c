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

	"github.com/goatnote-inc/pawl/internal/disk"
	"github.com/goatnote-inc/pawl/internal/failpoint"
)

// Spool is a folder of reports that wait to be sent. What Add has returned for survives
// a crash of the machine. Any number of processes may use it at once.
type Spool struct {
	Dir string
	Now func() time.Time
}

// Destination is where a report is to go.
type Destination struct {
	Server  string `json:"server"`
	Project string `json:"project"`
}

// Spooled is a report that waits.
type Spooled struct {
	To   Destination
	Key  string
	Run  string
	Body []byte // byte for byte what is sent, however often
	// Blobs are those that the report names.
	Blobs []Blob

	dir string
}

// Size is how many bytes there are to send, at most.
func (p *Spooled) Size() int64 {
	n := int64(len(p.Body))
	for _, b := range p.Blobs {
		n += b.Size
	}
	return n
}

// Open gives the bytes of a blob.
func (p *Spooled) Open(b Blob) (io.ReadCloser, error) {
	return os.Open(filepath.Join(p.dir, b.Digest))
}

// The files of a report that waits; its blobs are beside them, by their digests.
const (
	spooledTo   = "to.json"
	spooledBody = "report.json"
	whyRefused  = "refused.txt"
)

// What is not a report that waits begins with one of these.
const (
	beginning = ".new-"
	leaving   = ".done-"
	refused   = "refused-"
)

// Add puts a report and its files into the spool. A report of the same run that waits
// already stays as it is and is returned: perhaps the server has it, and a second one of
// another spelling would be refused.
func (s Spool) Add(to Destination, r *Report, files []File) (*Spooled, error) {
	p, err := s.add(to, r, files)
	if err != nil {
		return nil, fmt.Errorf("put the report of run %s into the spool %s: %w", r.Run, s.Dir, err)
	}
	return p, nil
}

func (s Spool) add(to Destination, r *Report, files []File) (*Spooled, error) {
	if err := r.Check(s.Now()); err != nil {
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
	dir, err := os.MkdirTemp(s.Dir, beginning)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir) // not there any more when all went well
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
	if err := disk.SyncFolder(s.Dir); err != nil {
		return nil, err
	}
	failpoint.At("spool.placed")
	return s.load(name)
}

func fillSpool(dir string, to Destination, body []byte, files []File) error {
	for _, f := range files {
		if err := spoolFile(dir, f); err != nil {
			return fmt.Errorf("keep %s: %w", f.Name, err)
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
	return disk.SyncFolder(dir)
}

// spoolFile copies a file, which may have changed since its digest was taken.
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
		return errors.New("it changed while it was read: push again")
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

// spoolName sorts by the time of the run, and keeps destinations apart.
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
	r, err := DecodeAt(p.Body, s.Now())
	if err != nil {
		return nil, err
	}
	p.Key, p.Run, p.Blobs = Key(r), r.Run, r.Blobs
	return p, nil
}

// Pending are the reports that wait, the oldest first. One that cannot be read is told
// in the error, beside the others.
func (s Spool) Pending() ([]*Spooled, error) {
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look into the spool: %w", err)
	}
	var list []*Spooled
	var errs []error
	for _, e := range entries {
		switch name := e.Name(); {
		case strings.HasPrefix(name, beginning), strings.HasPrefix(name, leaving):
			s.sweep(e)
		case strings.HasPrefix(name, refused) || !e.IsDir():
		default:
			p, err := s.load(name)
			if err == nil {
				list = append(list, p)
			} else if !errors.Is(err, fs.ErrNotExist) { // somebody sent it just now
				errs = append(errs, fmt.Errorf("read %s: %w: move it away to go on without it", filepath.Join(s.Dir, name), err))
			}
		}
	}
	return list, errors.Join(errs...)
}

// sweep removes what a process left that was killed. One that still writes is younger.
func (s Spool) sweep(e fs.DirEntry) {
	info, err := e.Info()
	if err == nil && (strings.HasPrefix(e.Name(), leaving) || s.Now().Sub(info.ModTime()) > 24*time.Hour) {
		_ = os.RemoveAll(filepath.Join(s.Dir, e.Name()))
	}
}

// Done removes a report that the server answers for. It goes at once, and its files
// after that: a crash between leaves nothing that looks like a report.
func (s Spool) Done(p *Spooled) error {
	away := filepath.Join(s.Dir, leaving+filepath.Base(p.dir))
	if err := os.RemoveAll(away); err != nil { // of a process that was killed
		return fmt.Errorf("take the report of run %s out of the spool: %w", p.Run, err)
	}
	err := os.Rename(p.dir, away)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // another process has done so
	}
	if err != nil {
		return fmt.Errorf("take the report of run %s out of the spool: %w", p.Run, err)
	}
	failpoint.At("spool.leaving")
	return errors.Join(disk.SyncFolder(s.Dir), os.RemoveAll(away))
}

// Refuse sets a report aside that the server will never take, with the reason. It
// returns where it is now.
func (s Spool) Refuse(p *Spooled, why string) (string, error) {
	aside := filepath.Join(s.Dir, refused+filepath.Base(p.dir))
	if err := os.RemoveAll(aside); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(p.dir, whyRefused), []byte(why+"\n"), 0o600); err != nil {
		return "", err
	}
	return aside, os.Rename(p.dir, aside)
}
