package lesson

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/goatnote-inc/pawl/internal/base/disk"
)

// cache keeps what reading and checking lessons gave, by the digest of their text: YAML and
// the tests of a thousand lessons take half a second. It lies outside of the repository, so
// that no change can bring one. One that cannot be read or written only makes things slower.
type cache struct {
	path  string // empty for none
	known map[string][]byte

	mu   sync.Mutex
	used map[string][]byte
	more bool // something is new
}

const (
	cacheForm = "pawl lessons 1\n" // changes with Lesson, or with what Parse refuses
	maxCache  = 256 << 20
)

// openCache reads that of the lessons in a folder.
func openCache(dir, root string) *cache {
	c := &cache{known: map[string][]byte{}, used: map[string][]byte{}}
	if dir == "" {
		return c
	}
	if abs, err := filepath.Abs(root); err == nil {
		root = abs
	}
	c.path = filepath.Join(dir, "lessons-"+digest([]byte(root), 16))
	text, err := readBounded(c.path, maxCache)
	rest, ok := bytes.CutPrefix(text, []byte(cacheForm))
	if err != nil || !ok || len(text) > maxCache {
		return c
	}
	for line := range bytes.Lines(rest) {
		if key, value, ok := bytes.Cut(bytes.TrimSuffix(line, []byte("\n")), []byte("\t")); ok {
			c.known[string(key)] = value
		}
	}
	return c
}

// parse is Parse, where it was not done before.
func (c *cache) parse(path string, text []byte) (*Lesson, error) {
	if c.path == "" {
		return Parse(path, text)
	}
	sum := sha256.Sum256(text)
	key := hex.EncodeToString(sum[:])
	if value := c.known[key]; value != nil {
		var l Lesson
		if json.Unmarshal(value, &l) == nil && l.Compile() == nil {
			c.keep(key, value, false)
			return &l, nil
		}
	}
	l, err := Parse(path, text)
	if err != nil {
		return nil, err
	}
	if value, err := json.Marshal(l); err == nil {
		c.keep(key, value, true)
	}
	return l, nil
}

func (c *cache) keep(key string, value []byte, fresh bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used[key], c.more = value, c.more || fresh
}

// close writes down what was used, where that is not what is there.
func (c *cache) close() {
	if c.path == "" || !c.more && len(c.used) == len(c.known) {
		return
	}
	b := bytes.NewBufferString(cacheForm)
	for _, key := range slices.Sorted(maps.Keys(c.used)) {
		fmt.Fprintf(b, "%s\t%s\n", key, c.used[key])
	}
	if os.MkdirAll(filepath.Dir(c.path), 0o700) == nil {
		_ = disk.WriteAtomic(c.path, b.Bytes())
	}
}
