package server

import (
	"container/list"
	"sync"
)

// lru is a bounded map, safe for concurrent use. It evicts the least recently used entries.
type lru[V any] struct {
	most int // max sum of the sizes of all entries

	mu    sync.Mutex
	size  int
	byKey map[string]*list.Element
	order list.List // of lruEntry[V], most recent first
}

type lruEntry[V any] struct {
	key   string
	value V
	size  int
}

func newLRU[V any](most int) *lru[V] { return &lru[V]{most: most, byKey: map[string]*list.Element{}} }

func (l *lru[V]) get(key string) (v V, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.find(key)
}

func (l *lru[V]) find(key string) (v V, ok bool) {
	e := l.byKey[key]
	if e == nil {
		return v, false
	}
	l.order.MoveToFront(e)
	entry, ok := e.Value.(lruEntry[V]) // the list holds nothing else
	return entry.value, ok
}

// getOr returns the entry, and adds the one that fresh returns if there is none.
func (l *lru[V]) getOr(key string, size int, fresh func() V) V {
	l.mu.Lock()
	defer l.mu.Unlock()
	if v, ok := l.find(key); ok {
		return v
	}
	v := fresh()
	l.byKey[key] = l.order.PushFront(lruEntry[V]{key, v, size})
	for l.size += size; l.size > l.most; {
		oldest, _ := l.order.Remove(l.order.Back()).(lruEntry[V])
		delete(l.byKey, oldest.key)
		l.size -= oldest.size
	}
	return v
}
