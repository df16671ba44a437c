package build

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Cache stores finished builds by a key of their inputs. An entry is a folder that appears
// atomically, by one rename, and is checked when it is read. So no lock is needed, and a killed
// writer leaves nothing that looks like an entry.
type Cache struct {
	Dir   string
	Limit int64 // bytes, above which the least recently used entries are removed; 0 means DefaultLimit

	// Builds in the sandbox can move between machines with equal tools.
	Tools string // digest of the tools of this machine, which is part of the keys of such builds; empty for none
	From  *Cache // builds of another machine, which count if they are not in this cache; nil for none
	To    *Cache // gets a copy of each build that is used, for another machine; nil for none
}

// DefaultLimit is the default size of a cache in bytes.
const DefaultLimit = 5 << 30

// DefaultCache returns the cache of this user: in PAWL_CACHE, or beside the caches of other
// programs. PAWL_CACHE_SIZE sets its limit, for example 20GB.
func DefaultCache() (*Cache, error) {
	dir, err := CacheDir()
	if err != nil {
		return nil, err
	}
	limit, err := parseSize(os.Getenv("PAWL_CACHE_SIZE"))
	if err != nil {
		return nil, fmt.Errorf("PAWL_CACHE_SIZE: %w", err)
	}
	return &Cache{Dir: filepath.Join(dir, "builds"), Limit: limit}, nil
}

// CacheDir returns the folder where pawl stores what it can recreate, for this user.
func CacheDir() (string, error) {
	dir := os.Getenv("PAWL_CACHE")
	if dir == "" {
		base, err := os.UserCacheDir()
		if err != nil {
			return "", fmt.Errorf("cannot find a folder for the build cache: %w; set PAWL_CACHE to a folder", err)
		}
		dir = filepath.Join(base, "pawl")
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", fmt.Errorf("cannot find the build cache: %w", err)
	}
	return dir, nil
}

func parseSize(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	units := []struct {
		suffix string
		bytes  float64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"GB", 1e9}, {"MB", 1e6}}
	for _, u := range units {
		if number, ok := strings.CutSuffix(s, u.suffix); ok {
			if x, err := strconv.ParseFloat(strings.TrimSpace(number), 64); err == nil && x > 0 && x < 1e9 {
				return int64(x * u.bytes), nil
			}
		}
	}
	return 0, fmt.Errorf("%q is not a size, such as 20GB or 512MiB", s)
}

// entry describes a cached build.
type entry struct {
	Format  string         `json:"format"`
	Key     string         `json:"key"`
	Command string         `json:"command"`
	Seconds float64        `json:"seconds"`
	Outputs []cachedOutput `json:"outputs"`
	Log     string         `json:"log"` // digest of the file log
	Arch    []string       `json:"arch,omitempty"`
	Made    *time.Time     `json:"made,omitempty"`
}

// cachedOutput is an output. Its content is in the file named by its index.
type cachedOutput struct {
	Path   string      `json:"path"` // relative to the suite's folder, with slashes
	Mode   fs.FileMode `json:"mode"`
	Size   int64       `json:"size"`
	Digest string      `json:"digest"`
}

const (
	maxKept       = 10_000
	maxEntryBytes = 1 << 20 // of entry.json
)

func (c *Cache) at(key string) string { return filepath.Join(c.Dir, key[:2], key) }

// folderKey returns the key of a build whose outputs contain the name of the folder they were built
// in. It is valid only in that folder.
func folderKey(key, root string) string {
	sum := sha256.New()
	writeField(sum, key, root)
	return hex.EncodeToString(sum.Sum(nil))
}

// load reads an entry and checks it. It removes a damaged entry.
func (c *Cache) load(key string) (*entry, string, bool) {
	dir := c.at(key)
	f, err := os.Open(filepath.Join(dir, "entry.json"))
	if err != nil {
		if _, err := os.Lstat(dir); err == nil { // a folder without entry.json
			c.discard(dir)
		}
		return nil, "", false
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxEntryBytes+1))
	var e entry
	if err != nil || json.Unmarshal(text, &e) != nil || !e.valid(key) {
		c.discard(dir)
		return nil, "", false
	}
	now := time.Now()
	_ = os.Chtimes(f.Name(), now, now) // sets the order of eviction; a failure for lack of permission is harmless
	return &e, dir, true
}

// valid reports whether an entry is a valid one under this key. Its contents are checked while
// they are copied.
func (e *entry) valid(key string) bool {
	ok := e.Format == keyFormat && e.Key == key && len(e.Outputs) > 0 && len(e.Outputs) <= maxKept && e.Seconds >= 0
	for _, o := range e.Outputs {
		ok = ok && filepath.IsLocal(filepath.FromSlash(o.Path)) && o.Mode == o.Mode.Perm() && o.Size >= 0
	}
	return ok
}

// store caches the outputs of a build. If two processes write the same entry, one wins, and both
// are valid.
func (c *Cache) store(e entry, root *os.Root, log []byte) error {
	if err := os.MkdirAll(filepath.Join(c.Dir, "tmp"), 0o700); err != nil {
		return fmt.Errorf("cannot write the build cache: %w", err)
	}
	tmp, err := os.MkdirTemp(filepath.Join(c.Dir, "tmp"), "new-")
	if err != nil {
		return fmt.Errorf("cannot write the build cache: %w", err)
	}
	defer os.RemoveAll(tmp)
	for i, o := range e.Outputs {
		digest, size, err := copyOut(root, filepath.FromSlash(o.Path), filepath.Join(tmp, strconv.Itoa(i)))
		if err != nil {
			return fmt.Errorf("cannot copy %s to the build cache: %w", o.Path, err)
		}
		if digest != o.Digest {
			return fmt.Errorf("cannot copy %s to the build cache: it is still being written", o.Path)
		}
		e.Outputs[i].Size = size
	}
	sum := sha256.Sum256(log)
	e.Log, e.Format = hex.EncodeToString(sum[:]), keyFormat
	text, err := json.Marshal(e)
	if err != nil {
		return fmt.Errorf("cannot write the build cache: %w", err)
	}
	err = errors.Join(os.WriteFile(filepath.Join(tmp, "log"), log, 0o600), os.WriteFile(filepath.Join(tmp, "entry.json"), text, 0o600))
	if err != nil {
		return fmt.Errorf("cannot write the build cache: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(c.at(e.Key)), 0o700); err != nil {
		return fmt.Errorf("cannot write the build cache: %w", err)
	}
	if err := os.Rename(tmp, c.at(e.Key)); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("cannot write the build cache: %w", err)
	}
	return c.evict(time.Now())
}

// copyOut copies a file and returns the digest and size of its content.
func copyOut(root *os.Root, name, to string) (digest string, size int64, err error) {
	in, err := root.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", 0, err
	}
	sum := sha256.New()
	size, err = io.Copy(io.MultiWriter(out, sum), in)
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), size, errors.Join(err, out.Close())
}

// discard removes an entry atomically, so that no reader sees half of it.
func (c *Cache) discard(dir string) {
	away, err := os.MkdirTemp(filepath.Join(c.Dir, "tmp"), "old-")
	if err != nil {
		if os.MkdirAll(filepath.Join(c.Dir, "tmp"), 0o700) != nil {
			return
		}
		if away, err = os.MkdirTemp(filepath.Join(c.Dir, "tmp"), "old-"); err != nil {
			return
		}
	}
	_ = os.Rename(dir, filepath.Join(away, "entry"))
	_ = os.RemoveAll(away)
}

// storedEntry is an entry as found on disk.
type storedEntry struct {
	dir  string
	size int64
	used time.Time
}

// entries returns the entries of the cache.
func (c *Cache) entries() []storedEntry {
	dirs, _ := filepath.Glob(filepath.Join(globSafe(c.Dir), "??", "*"))
	var list []storedEntry
	for _, dir := range dirs {
		h := storedEntry{dir: dir}
		if info, err := os.Stat(filepath.Join(dir, "entry.json")); err == nil {
			h.used = info.ModTime()
		}
		files, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, f := range files {
			if info, err := f.Info(); err == nil {
				h.size += info.Size()
			}
		}
		list = append(list, h)
	}
	return list
}

// abandoned is the age at which an unfinished entry counts as abandoned. Copying a build never
// takes this long.
const abandoned = time.Hour

// evict removes the least recently used entries until the cache is a tenth below its limit, and
// the leftovers of killed writers.
func (c *Cache) evict(now time.Time) error {
	unfinished, err := os.ReadDir(filepath.Join(c.Dir, "tmp"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("cannot clean the build cache: %w", err)
	}
	for _, u := range unfinished {
		if info, err := u.Info(); err == nil && now.Sub(info.ModTime()) > abandoned {
			_ = os.RemoveAll(filepath.Join(c.Dir, "tmp", u.Name()))
		}
	}
	list := c.entries()
	var total int64
	for _, h := range list {
		total += h.size
	}
	limit := cmp.Or(c.Limit, DefaultLimit)
	if total <= limit {
		return nil
	}
	slices.SortFunc(list, func(a, b storedEntry) int { return a.used.Compare(b.used) })
	for _, h := range list {
		if total <= limit/10*9 {
			break
		}
		c.discard(h.dir)
		total -= h.size
	}
	return nil
}

// Size returns the number of builds in the cache and their size in bytes.
func (c *Cache) Size() (builds int, bytes int64) {
	for _, h := range c.entries() {
		builds++
		bytes += h.size
	}
	return builds, bytes
}

// Clean empties the cache. A build that is stored at the same time may remain.
func (c *Cache) Clean(ctx context.Context) error {
	for _, h := range c.entries() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.discard(h.dir)
	}
	return c.evict(time.Now())
}
