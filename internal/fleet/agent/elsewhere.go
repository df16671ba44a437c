package agent

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
)

// describe asks pawl what builds can read on this host, and what its devices need. From then on the server is told.
func (a *Agent) describe(ctx context.Context) error {
	a.log.InfoContext(ctx, "reading the tools of this host, which takes a minute the first time")
	var tools struct {
		Tools string `json:"tools"`
	}
	if err := a.ask(ctx, &tools, "build", "--tools", "--json"); err != nil {
		return err
	}
	h := job.Host{Tools: tools.Tools}
	if !a.id.onlyBuilds() {
		var out json.RawMessage
		if err := a.ask(ctx, &out, "device", "show", "--json"); err != nil {
			return err
		}
		found, err := shownDevice(out)
		if err != nil {
			return err
		}
		if found != nil && found.ComputeCapability != "" {
			h.Arch = "sm_" + strings.ReplaceAll(found.ComputeCapability, ".", "")
		}
	}
	if h.Tools == "" || !h.Valid() {
		return fmt.Errorf("pawl describes this host as %+v: is it of the same version?", h)
	}
	a.host.Store(&h)
	return nil
}

// has reports whether the host has these tools, as far as is known.
func (a *Agent) has(tools string) bool {
	h := a.host.Load()
	return h != nil && h.Tools == tools
}

const (
	describeSoon = 5 * time.Second // for which the first poll waits: it takes a second if the tools were read before
	// describeEvery is how soon the server learns that the tools of a card's host changed. Until then, builds from elsewhere are
	// of no use there.
	describeEvery = time.Hour
)

// describeOften describes the host now and then, while nothing is measured. It closes first after the first time. Builds from elsewhere
// are not needed, so errors are only logged.
func (a *Agent) describeOften(ctx context.Context) (first <-chan struct{}) {
	done := make(chan struct{})
	go func() {
		ended := sync.OnceFunc(func() { close(done) })
		for {
			select {
			case a.turn <- struct{}{}:
			case <-ctx.Done():
				return
			}
			err := a.describe(ctx)
			<-a.turn
			if err != nil && ctx.Err() == nil {
				a.host.Store(nil)
				a.log.WarnContext(ctx, "cannot use what is built elsewhere now", "error", err)
			}
			ended()
			if sleep(ctx, describeEvery) != nil {
				return
			}
		}
	}()
	return done
}

// ask runs pawl with the environment of its builds, and decodes its answer.
func (a *Agent) ask(ctx context.Context, answer any, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, a.pace.turn)
	defer cancel()
	cmd := exec.CommandContext(ctx, a.pawl, args...)
	cmd.Env, cmd.WaitDelay = childEnv(os.Environ(), job.Lease{}), time.Second
	out, err := cmd.Output()
	if err == nil {
		err = json.Unmarshal(out, answer)
	}
	if err != nil {
		return fmt.Errorf("cannot ask pawl %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// buildFiles matches the files of a folder of builds: the tools with which they were made, and the entries by their keys.
var buildFiles = lazyregexp.New(`^(host-tools|[0-9a-f]{2}/[0-9a-f]{64}/(entry\.json|log|[0-9]{1,5}))$`)

// Limits of builds when they are unpacked.
const (
	maxBuildFiles = 20_000
	maxBuildBytes = 4 << 30
)

// takeBuilds gets what was built elsewhere for a lease. The measurement works without: it builds what it does not find. Each attempt
// unpacks the archive again, because code that was measured before could have changed its files.
func (a *Agent) takeBuilds(ctx context.Context, d *leaseDir) error {
	if err := removeAll(d.file("builds")); err != nil {
		return fmt.Errorf("cannot remove the builds of an earlier attempt: %w", err)
	}
	if d.lease.Builds == "" || !a.has(d.lease.Host.Tools) {
		return nil
	}
	var err error
	if !hasDigest(d.file("builds.tar.gz"), d.lease.Builds) {
		err = a.fetch(ctx, d, d.lease.Builds, d.file("builds.tar.gz"))
	}
	if err == nil {
		err = unpackBuilds(d.file("builds.tar.gz"), d.file("builds"))
	}
	if err != nil && ctx.Err() == nil {
		a.log.WarnContext(ctx, "cannot use what was built elsewhere: building here", "lease", d.lease.ID, "error", err)
	}
	return nil
}

func hasDigest(path, digest string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	return copyDigest(io.Discard, f, digest) == nil
}

// unpackBuilds unpacks an archive of builds into a new folder, which appears when it is complete.
func unpackBuilds(archive, dir string) error {
	f, err := os.Open(archive)
	if err != nil {
		return fmt.Errorf("cannot read the builds: %w", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("cannot read the builds: %w", err)
	}
	tmp := dir + ".new"
	if err := removeAll(tmp); err != nil {
		return fmt.Errorf("cannot unpack the builds: %w", err)
	}
	t := tar.NewReader(io.LimitReader(z, maxBuildBytes))
	for range maxBuildFiles {
		h, err := t.Next()
		switch {
		case errors.Is(err, io.EOF):
			return os.Rename(tmp, dir)
		case err != nil:
			return fmt.Errorf("cannot unpack the builds, of which at most %d bytes are read: %w", int64(maxBuildBytes), err)
		case !buildFiles.MatchString(h.Name) || h.Typeflag != tar.TypeReg:
			return fmt.Errorf("%.100q is not a file of builds", h.Name)
		}
		if err := unpackFile(t, filepath.Join(tmp, filepath.FromSlash(h.Name))); err != nil {
			return fmt.Errorf("cannot unpack the builds: %w", err)
		}
	}
	return fmt.Errorf("the builds have more than %d files", maxBuildFiles)
}

func unpackFile(from io.Reader, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, from)
	return errors.Join(err, out.Close())
}

// packBuilds writes the archive of builds for another host, and returns its digest; none if there are no builds. If the
// tools of this host are not those of the lease any more, it ends the agent: the next start tells the server the new ones.
func (a *Agent) packBuilds(d *leaseDir, code int) (string, error) {
	tools, err := disk.ReadRegular(d.file("builds/host-tools"), 1<<10)
	switch {
	case code != 0 || errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("cannot read the builds: %w", err)
	case string(tools) != d.lease.Host.Tools:
		err := errors.New("the tools of this host changed: start the agent again")
		select {
		case a.stale <- err:
		default:
		}
		return "", err
	}
	sum, entries := sha256.New(), 0
	err = disk.Replace(d.file("builds.tar.gz"), 0o600, func(w io.Writer) error {
		z := gzip.NewWriter(io.MultiWriter(w, sum))
		t := tar.NewWriter(z)
		folder := os.DirFS(d.file("builds"))
		err := fs.WalkDir(folder, ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil || !e.Type().IsRegular() || !buildFiles.MatchString(name) {
				return err
			}
			entries++
			return packFile(t, folder, name)
		})
		return errors.Join(err, t.Close(), z.Close())
	})
	if err != nil {
		return "", fmt.Errorf("cannot pack the builds: %w", err)
	}
	if entries <= 1 { // host-tools alone
		return "", nil
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func packFile(t *tar.Writer, folder fs.FS, name string) error {
	in, err := folder.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	if err := t.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: info.Size()}); err != nil {
		return err
	}
	_, err = io.Copy(t, in)
	return err
}
