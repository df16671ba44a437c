package change

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/goatnote-inc/pawl/internal/base/loopback"
	"github.com/goatnote-inc/pawl/internal/base/scratch"
	"github.com/goatnote-inc/pawl/internal/base/shell"
	"github.com/goatnote-inc/pawl/internal/fleet/gate"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/forge"
)

// bundle fetches both commits of a change into pawld's copy of the repository, and stores them as a git bundle. It returns the
// digest of the bundle.
func (c *Changes) bundle(ctx context.Context, s *subject, slug, ref string, w gate.Work) (string, error) {
	lock := c.lock(s.project)
	lock.Lock()
	defer lock.Unlock()
	remote, err := c.o.Remote(ctx, s.repo)
	if err != nil {
		return "", err
	}
	mirror, err := c.fetch(ctx, s.project, remote, ref, w)
	if err != nil {
		return "", err
	}
	folder, err := scratch.New("", "bundle")
	if err != nil {
		return "", fmt.Errorf("cannot make a bundle: %w", err)
	}
	defer folder.Remove()
	file := filepath.Join(folder.Path, "bundle")
	base, head := "refs/gates/"+w.Gate+"/base", "refs/gates/"+w.Gate+"/head"
	for _, args := range [][]string{
		{"update-ref", base, w.Base},
		{"update-ref", head, w.Head},
		{"bundle", "create", "--quiet", file, base, head},
		{"update-ref", "-d", base},
		{"update-ref", "-d", head},
	} {
		if _, err := shell.GitUntrusted(ctx, mirror, nil, append([]string{"-C", mirror}, args...)...); err != nil {
			return "", fmt.Errorf("cannot make a bundle: %w", err)
		}
	}
	// Otherwise a copy becomes a file for each object of each push. The cost is that of the objects since the last time, not of the repository.
	if _, err := shell.GitUntrusted(ctx, mirror, nil, "-C", mirror, "repack", "-d", "--geometric=2", "--quiet"); err != nil {
		c.o.Log.WarnContext(ctx, "cannot pack the copy of a repository: it grows", "project", slug, "error", err)
	}
	return c.store(ctx, slug, file)
}

// lock returns the lock of a project's copy.
func (c *Changes) lock(project int64) *sync.Mutex {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.locks[project] == nil {
		c.locks[project] = &sync.Mutex{}
	}
	return c.locks[project]
}

// fetch brings the copy of a repository up to date, and returns its folder.
func (c *Changes) fetch(ctx context.Context, project int64, remote forge.Remote, ref string, w gate.Work) (string, error) {
	mirror := filepath.Join(c.o.Dir, strconv.FormatInt(project, 10)+".git")
	if err := os.MkdirAll(mirror, 0o700); err != nil {
		return "", fmt.Errorf("cannot make a copy of a repository: %w", err)
	}
	format := "sha1"
	if len(w.Head) == 64 {
		format = "sha256"
	}
	// A new one, or one that exists already: then it stays as it is.
	if _, err := shell.GitUntrusted(ctx, mirror, nil, "init", "--quiet", "--bare", "--template=", "--object-format="+format, mirror); err != nil {
		return "", fmt.Errorf("cannot make a copy of a repository: %w", err)
	}
	options, env := transport(remote)
	args := append(slices.Clone(options), "-C", mirror, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", remote.URL, "+"+ref+":refs/fetched/"+strings.TrimPrefix(ref, "refs/"))
	if _, err := shell.GitUntrusted(ctx, mirror, env, args...); err != nil {
		return "", fmt.Errorf("cannot fetch %s: %w", ref, err)
	}
	for _, commit := range []string{w.Base, w.Head} {
		if _, err := shell.GitUntrusted(ctx, mirror, nil, "-C", mirror, "cat-file", "-e", commit+"^{commit}"); err != nil {
			return "", fmt.Errorf("commit %.12s is not in %s: %w", commit, ref, err)
		}
	}
	return mirror, nil
}

// transport returns the options and the environment with which git reaches a remote, and nothing else. The credentials are in the
// environment, because all users of a machine can read arguments, and are not sent to where the forge redirects.
func transport(r forge.Remote) (options, env []string) {
	options = []string{"-c", "protocol.https.allow=always", "-c", "http.followRedirects=false"}
	if u, err := url.Parse(r.URL); err == nil && u.Scheme == "http" && loopback.Is(u.Host) {
		options = append(options, "-c", "protocol.http.allow=always")
	}
	if r.Header != "" {
		env = []string{"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=http.extraHeader", "GIT_CONFIG_VALUE_0=" + r.Header}
	}
	return options, env
}

// store stores a file as a blob of a project, and returns its digest.
func (c *Changes) store(ctx context.Context, slug, path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	sum := sha256.New()
	size, err := io.Copy(sum, f)
	if err != nil {
		return "", fmt.Errorf("cannot read a bundle: %w", err)
	}
	if size > job.MaxBundle {
		return "", forge.Invalid("the repository is too large: its bundle has %d bytes, the limit is %d", size, int64(job.MaxBundle))
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	return digest, c.o.Blobs.Put(ctx, slug, digest, f, size)
}
