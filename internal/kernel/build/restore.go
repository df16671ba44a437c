package build

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/base/disk"
)

func anyEntry(*entry) bool { return true }

// restore copies the outputs of an entry into the folder. It copies and checks all of them before
// it renames the first. It returns false if the entry is damaged or missing, or if an output cannot be
// replaced. Some outputs may then have been replaced already, so the caller must build. It also returns false if
// the entry is not allowed.
func (c *Cache) restore(key, dir string, allowed func(*entry) bool) (*entry, []byte, bool) {
	e, from, ok := c.load(key)
	if !ok || !allowed(e) {
		return nil, nil, false
	}
	log, err := disk.ReadRegular(filepath.Join(from, "log"), headBytes+3*tailBytes)
	if sum := sha256.Sum256(log); err != nil || hex.EncodeToString(sum[:]) != e.Log {
		c.discard(from)
		return nil, nil, false
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, nil, false
	}
	defer root.Close()
	staged := map[string]string{} // output to its temporary name
	defer func() {
		for _, tmp := range staged {
			_ = root.Remove(tmp)
		}
	}()
	for i, o := range e.Outputs {
		if have, err := fileDigest(root, o.Path); err == nil && have == o.Digest && sameMode(root, o) {
			continue // already there
		}
		tmp, digest, err := stage(root, o, filepath.Join(from, strconv.Itoa(i)))
		if tmp != "" {
			staged[o.Path] = tmp
		}
		if err != nil || digest != o.Digest {
			var path *fs.PathError
			if err == nil || errors.As(err, &path) && strings.HasPrefix(path.Path, c.Dir) {
				c.discard(from)
			}
			return nil, nil, false
		}
	}
	for name, tmp := range staged {
		if err := root.Rename(tmp, filepath.FromSlash(name)); err != nil {
			return nil, nil, false // a folder has this name: a build reports it better
		}
		delete(staged, name)
	}
	return e, log, true
}

func sameMode(root *os.Root, o cachedOutput) bool {
	info, err := root.Lstat(filepath.FromSlash(o.Path))
	return err == nil && info.Mode() == o.Mode
}

// stage copies an output to a temporary name beside its final one.
func stage(root *os.Root, o cachedOutput, from string) (tmp, digest string, err error) {
	in, err := os.Open(from)
	if err != nil {
		return "", "", err
	}
	defer in.Close()
	name := filepath.FromSlash(o.Path)
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return "", "", err
	}
	tmp = fmt.Sprintf("%s.pawl-%d-%d", name, os.Getpid(), time.Now().UnixNano())
	out, err := root.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, o.Mode)
	if err != nil {
		return "", "", err
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(out, sum), in)
	err = errors.Join(err, out.Close(), root.Chmod(tmp, o.Mode)) // independent of the umask
	return tmp, "sha256:" + hex.EncodeToString(sum.Sum(nil)), err
}

// agedOutputs holds outputs that existed before a build, with their old times. They are made to look old:
// a build that considers them up to date would return what was built with other flags.
type agedOutputs struct {
	root *os.Root
	was  map[string]time.Time
}

var longAgo = time.Unix(0, 0)

// makeOld makes outputs look older than every source. Files that git tracks are sources, even if the
// suite lists them as outputs, and keep their times.
func makeOld(root *os.Root, paths []string, tracked func(string) bool) agedOutputs {
	a := agedOutputs{root, map[string]time.Time{}}
	for _, p := range paths {
		info, err := root.Lstat(p)
		if err == nil && info.Mode().IsRegular() && !tracked(p) && root.Chtimes(p, longAgo, longAgo) == nil {
			a.was[p] = info.ModTime()
		}
	}
	return a
}

// restore restores the time of outputs that were not rebuilt, and reports whether all were rebuilt.
func (a agedOutputs) restore() (renewed bool) {
	renewed = true
	for p, t := range a.was {
		if info, err := a.root.Lstat(p); err == nil && info.ModTime().Equal(longAgo) {
			renewed = false
			_ = a.root.Chtimes(p, t, t)
		}
	}
	return renewed
}
