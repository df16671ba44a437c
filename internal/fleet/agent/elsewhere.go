package agent

import (
	"archive/zip"
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

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
)

// describe asks pawl what builds can read on this host, and what its devices need.
func (a *Agent) describe(ctx context.Context) (h job.Host, err error) {
	a.log.InfoContext(ctx, "reading the tools of this host, which takes a minute the first time")
	var tools struct {
		Tools string `json:"tools"`
	}
	if err := a.ask(ctx, &tools, "build", "--tools", "--json"); err != nil {
		return h, err
	}
	h.Tools = tools.Tools
	if !a.id.onlyBuilds() {
		var out json.RawMessage
		if err := a.ask(ctx, &out, "device", "show", "--json"); err != nil {
			return h, err
		}
		found, err := shownDevice(out)
		if err != nil {
			return h, err
		}
		if found != nil && found.ComputeCapability != "" {
			h.Arch = "sm_" + strings.ReplaceAll(found.ComputeCapability, ".", "")
		}
	}
	if h.Tools == "" || !h.Valid() {
		return h, fmt.Errorf("pawl describes this host as %+v: is it of the same version?", h)
	}
	return h, nil
}

// ask runs pawl with the environment of its builds, and decodes its answer.
func (a *Agent) ask(ctx context.Context, answer any, args ...string) error {
	cmd := exec.CommandContext(ctx, a.pawl, args...)
	cmd.Env = childEnv(os.Environ(), job.Lease{})
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

// takeBuilds gets what was built elsewhere for a lease. The measurement works without: it builds what it does not find.
func (a *Agent) takeBuilds(ctx context.Context, d *leaseDir) {
	if d.lease.Builds == "" || a.host.Tools == "" || d.lease.Host.Tools != a.host.Tools {
		return
	}
	if _, err := os.Stat(d.file("builds")); err == nil {
		return // of an earlier attempt
	}
	err := a.fetch(ctx, d, d.lease.Builds, d.file("builds.zip"))
	if err == nil {
		err = unpackBuilds(d.file("builds.zip"), d.file("builds"))
	}
	if err != nil && ctx.Err() == nil {
		a.log.WarnContext(ctx, "cannot use what was built elsewhere: building here", "lease", d.lease.ID, "error", err)
	}
}

// unpackBuilds unpacks an archive of builds into a new folder, which appears when it is complete.
func unpackBuilds(archive, dir string) error {
	z, err := zip.OpenReader(archive)
	if err != nil {
		return fmt.Errorf("cannot read the builds: %w", err)
	}
	defer z.Close()
	if len(z.File) > maxBuildFiles {
		return fmt.Errorf("the builds have %d files, at most %d are allowed", len(z.File), maxBuildFiles)
	}
	tmp := dir + ".new"
	if err := removeAll(tmp); err != nil {
		return fmt.Errorf("cannot unpack the builds: %w", err)
	}
	left := int64(maxBuildBytes)
	for _, f := range z.File {
		if !buildFiles.MatchString(f.Name) || !f.Mode().IsRegular() {
			return fmt.Errorf("%.100q is not a file of builds", f.Name)
		}
		n, err := unpackFile(f, filepath.Join(tmp, filepath.FromSlash(f.Name)), left)
		if err != nil {
			return fmt.Errorf("cannot unpack the builds: %w", err)
		}
		left -= n
	}
	return os.Rename(tmp, dir)
}

func unpackFile(f *zip.File, to string, limit int64) (int64, error) {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return 0, err
	}
	in, err := f.Open()
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(out, io.LimitReader(in, limit+1))
	if n > limit {
		err = fmt.Errorf("they have more than %d bytes", int64(maxBuildBytes))
	}
	return n, errors.Join(err, out.Close())
}

// packBuilds writes the archive of builds for another host, and returns its digest; none if there are no builds. If the
// tools of this host changed since the server was told of them, it ends the agent: the next start tells it the new ones.
func (a *Agent) packBuilds(d *leaseDir, code int) (string, error) {
	tools, err := disk.ReadRegular(d.file("builds/host-tools"), 1<<10)
	switch {
	case code != 0 || errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("cannot read the builds: %w", err)
	case string(tools) != a.host.Tools:
		err := errors.New("the tools of this host changed: start the agent again")
		select {
		case a.stale <- err:
		default:
		}
		return "", err
	}
	sum, entries := sha256.New(), 0
	err = disk.Replace(d.file("builds.zip"), 0o600, func(w io.Writer) error {
		z := zip.NewWriter(io.MultiWriter(w, sum))
		folder := os.DirFS(d.file("builds"))
		err := fs.WalkDir(folder, ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !buildFiles.MatchString(name) {
				return err
			}
			entries++
			return packFile(z, folder, name)
		})
		return errors.Join(err, z.Close())
	})
	if err != nil {
		return "", fmt.Errorf("cannot pack the builds: %w", err)
	}
	if entries <= 1 { // host-tools alone
		return "", nil
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

func packFile(z *zip.Writer, folder fs.FS, name string) error {
	in, err := folder.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := z.Create(name)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return err
}
