package store

import (
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/measure"
)

// rowCache caches rows that do not change once they exist, so that a report of known series needs no
// lookups. Each cache is bounded; evicted entries are queried again.
type rowCache struct {
	series   *genCache[seriesKey, seriesRow]
	testbeds *genCache[testbedKey, int64]
	commits  *genCache[commitKey, int16] // commits with a time, and the lane that reported it
	months   *genCache[time.Time, struct{}]
	reports  *genCache[reportKey, string] // commits by report
	settled  *genCache[commitKey, client.Commit]

	// naming makes writers of one project take turns when they add series: of many reports of
	// a new suite, one adds the series and the others find them.
	naming [64]sync.Mutex
}

type seriesKey struct {
	project, testbed int64
	lane             int16
	suite            string
	measure.CaseKey
}

type seriesRow struct {
	id           int64
	unit, better string
	path, owners string // owners joined into one text
}

type testbedKey struct {
	project int64
	key     string
}

type commitKey struct {
	project int64
	sha     string
}

type reportKey struct{ project, report int64 }

func newKnown() *rowCache {
	return &rowCache{
		series:   newRecent[seriesKey, seriesRow](400_000),
		testbeds: newRecent[testbedKey, int64](20_000),
		commits:  newRecent[commitKey, int16](400_000),
		months:   newRecent[time.Time, struct{}](1_000),
		reports:  newRecent[reportKey, string](200_000),
		settled:  newRecent[commitKey, client.Commit](100_000),
	}
}

// genCache is a bounded map. When it is full, it evicts entries that were not used recently, one
// generation at a time.
type genCache[K comparable, V any] struct {
	mu        sync.Mutex
	most      int
	now, then map[K]V
}

func newRecent[K comparable, V any](most int) *genCache[K, V] {
	return &genCache[K, V]{most: most, now: map[K]V{}}
}

// get looks up n keys at once. It calls found with the index and value of each hit.
func (r *genCache[K, V]) get(n int, key func(int) K, found func(int, V)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range n {
		k := key(i)
		v, ok := r.now[k]
		if !ok {
			if v, ok = r.then[k]; ok {
				r.put(k, v)
			}
		}
		if ok {
			found(i, v)
		}
	}
}

func (r *genCache[K, V]) one(k K) (v V, ok bool) {
	r.get(1, func(int) K { return k }, func(_ int, got V) { v, ok = got, true })
	return v, ok
}

func (r *genCache[K, V]) add(k K, v V) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.put(k, v)
}

func (r *genCache[K, V]) forget(k K) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.now, k)
	delete(r.then, k)
}

func (r *genCache[K, V]) put(k K, v V) {
	if len(r.now) >= r.most/2 {
		r.now, r.then = map[K]V{}, r.now
	}
	r.now[k] = v
}
