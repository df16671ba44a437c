package agent

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
)

// leaseDir is the folder of a lease. It outlives an attempt that was lost, so that the next one continues from its journal. A build and the
// measurement that follows share it, each with files of its own that say how far it is: the measurement may start before the end of the
// build is noted.
type leaseDir struct {
	path   string
	lease  job.Lease
	token  []byte
	began  time.Time
	result *job.Result // nil until measured

	phase  atomic.Value // string
	rounds atomic.Int64
}

// leaseFile says that an attempt is under way. Without it a folder only waits for a next attempt.
type leaseFile struct {
	Token []byte    `json:"token"` // sealed by the gateway for this agent
	Lease job.Lease `json:"lease"`
	Began time.Time `json:"began"`
}

// keptLeases is how many folders of lost attempts are kept.
const keptLeases = 4

const maxLeaseFile = 1 << 20

func (d *leaseDir) file(name string) string { return filepath.Join(d.path, name) }

// own returns the path of a file that a build and its measurement do not share.
func (d *leaseDir) own(name string) string {
	if d.lease.Build {
		name = "build-" + name
	}
	return d.file(name)
}

// leaseFiles matches the own lease.json of builds and measurements.
const leaseFiles = "*lease.json"

// check refuses a lease whose words cannot be used in a command.
func check(l job.Lease) error {
	switch {
	case l.ID == "":
		return errors.New("it has no name")
	case l.Seconds <= 0:
		return errors.New("it has no time")
	case l.Calibrate != 0: // nothing else of it is used
		return nil
	case !isHex(l.Bundle, 64):
		return errors.New("its bundle is not a SHA-256")
	case !isHex(l.Base, 40) && !isHex(l.Base, 64), !isHex(l.Head, 40) && !isHex(l.Head, 64):
		return errors.New("its commits are not given in full")
	case !filepath.IsLocal(l.Suite) || strings.HasPrefix(l.Suite, "-") || strings.ContainsAny(l.Suite, "\x00\n"):
		return errors.New("its suite is not a path in the repository")
	case l.Builds != "" && !isHex(l.Builds, 64), !l.Host.Valid():
		return errors.New("its builds are not a SHA-256, or its host cannot be read")
	case l.Trust != "" && !slices.Contains([]string{"trusted", "checked", "self-timed"}, l.Trust):
		return fmt.Errorf("its level of trust %.20q is unknown", l.Trust)
	}
	return nil
}

func isHex(text string, length int) bool {
	return len(text) == length && strings.Trim(text, "0123456789abcdef") == ""
}

// keep writes a lease to disk before anything else is done for it. Attempts at the same measurement on the same device share a folder; a
// result that was measured but not delivered counts for the next attempt. What was built elsewhere may contain the name of the folder, so
// it is the same there.
func (a *Agent) keep(l job.Lease, token []byte) (*leaseDir, error) {
	device := l.Device
	if l.Builds != "" {
		device = ""
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{l.ID, device, l.Bundle, l.Base, l.Head, l.Suite, l.Trust}, "\x00")))
	d := &leaseDir{path: filepath.Join(a.state, "leases", hex.EncodeToString(sum[:16])), lease: l, token: token, began: time.Now()}
	if err := os.MkdirAll(d.path, 0o700); err != nil {
		return nil, fmt.Errorf("cannot create the folder of a lease: %w", err)
	}
	if err := writeJSON(d.own("lease.json"), leaseFile{token, l, d.began}); err != nil {
		return nil, err
	}
	d.result = readResult(d)
	return d, disk.SyncDir(filepath.Dir(d.path))
}

func readResult(d *leaseDir) *job.Result {
	text, err := disk.ReadRegular(d.own("result.json"), maxLeaseFile)
	if err != nil {
		return nil
	}
	var r job.Result
	if json.Unmarshal(text, &r) != nil {
		return nil
	}
	r.Lease, r.Attempt = d.lease.ID, d.lease.Attempt
	return &r
}

// kept returns the leases that an earlier process left under way, oldest first.
func (a *Agent) kept() []*leaseDir {
	paths, _ := filepath.Glob(filepath.Join(a.state, "leases", "*", leaseFiles))
	var list []*leaseDir
	for _, path := range paths {
		text, err := disk.ReadRegular(path, maxLeaseFile)
		var f leaseFile
		if err == nil {
			err = json.Unmarshal(text, &f)
		}
		if err == nil {
			err = check(f.Lease)
		}
		if err != nil { // written atomically, so it is not the agent's
			a.log.Warn("ignoring a lease that cannot be read", "file", path, "error", err)
			continue
		}
		d := &leaseDir{path: filepath.Dir(path), lease: f.Lease, token: f.Token, began: f.Began}
		d.result = readResult(d)
		list = append(list, d)
	}
	slices.SortFunc(list, func(a, b *leaseDir) int { return a.began.Compare(b.began) })
	return list
}

// save keeps the result, so that it is measured only once.
func (d *leaseDir) save(r job.Result) error {
	d.result = &r
	return writeJSON(d.own("result.json"), r)
}

// lose ends an attempt whose lease the server gave up. The rounds stay for the next attempt.
func (d *leaseDir) lose() error {
	if err := os.Remove(d.own("lease.json")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return disk.SyncDir(d.path)
}

// finish removes what an attempt with an outcome leaves. The workspace of a build stays if its measurement follows.
func (d *leaseDir) finish(outcome error) error {
	if d.lease.Build && !d.lease.Elsewhere() && !temporal.IsCanceledError(outcome) && (d.result == nil || d.result.Record == "") {
		return d.lose()
	}
	return d.remove()
}

// remove removes the folder. The file that says that an attempt is under way goes first.
func (d *leaseDir) remove() error { return errors.Join(d.lose(), removeAll(d.path)) }

// removeAll removes a folder that a build may have made read-only.
func removeAll(path string) error {
	if os.RemoveAll(path) == nil {
		return nil
	}
	_ = filepath.WalkDir(path, func(p string, e fs.DirEntry, err error) error {
		if err == nil && e.IsDir() {
			_ = os.Chmod(p, 0o700) //nolint:gosec // a folder
		}
		return nil
	})
	return os.RemoveAll(path)
}

// tidy removes the oldest folders of lost attempts.
func (a *Agent) tidy() {
	paths, _ := filepath.Glob(filepath.Join(a.state, "leases", "*"))
	type old struct {
		path string
		at   time.Time
	}
	var list []old
	for _, path := range paths {
		info, err := os.Stat(path)
		if under, _ := filepath.Glob(filepath.Join(path, leaseFiles)); err == nil && len(under) == 0 {
			list = append(list, old{path, info.ModTime()})
		}
	}
	slices.SortFunc(list, func(a, b old) int { return cmp.Or(b.at.Compare(a.at), strings.Compare(a.path, b.path)) })
	for _, o := range list[min(len(list), keptLeases):] {
		if err := removeAll(o.path); err != nil {
			a.log.Warn("cannot remove an old lease", "error", err)
		}
	}
}

// beatNow returns what a heartbeat says now.
func (d *leaseDir) beatNow() job.Beat {
	phase, _ := d.phase.Load().(string)
	return job.Beat{Phase: phase, Rounds: int(d.rounds.Load()), At: time.Now().UTC()}
}
