// Package rowcache caches rows that do not change once they exist. Each cache is bounded; evicted rows are
// queried again.
package rowcache

import (
	"sync"
)

// Cache is a bounded map, safe for concurrent use. When it is full, it evicts entries that were not used
// recently, one generation at a time.
type Cache[K comparable, V any] struct {
	mu        sync.Mutex
	most      int
	now, then map[K]V
}

// New returns a cache of at most this many entries.
func New[K comparable, V any](most int) *Cache[K, V] {
	return &Cache[K, V]{most: most, now: map[K]V{}}
}

// Get looks up n keys at once. It calls found with the index and value of each hit.
func (c *Cache[K, V]) Get(n int, key func(int) K, found func(int, V)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range n {
		k := key(i)
		v, ok := c.now[k]
		if !ok {
			if v, ok = c.then[k]; ok {
				c.put(k, v)
			}
		}
		if ok {
			found(i, v)
		}
	}
}

// One looks up one key.
func (c *Cache[K, V]) One(k K) (v V, ok bool) {
	c.Get(1, func(int) K { return k }, func(_ int, got V) { v, ok = got, true })
	return v, ok
}

// Add adds or replaces an entry.
func (c *Cache[K, V]) Add(k K, v V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(k, v)
}

// Forget removes an entry.
func (c *Cache[K, V]) Forget(k K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.now, k)
	delete(c.then, k)
}

func (c *Cache[K, V]) put(k K, v V) {
	if len(c.now) >= c.most/2 {
		c.now, c.then = map[K]V{}, c.now
	}
	c.now[k] = v
}
