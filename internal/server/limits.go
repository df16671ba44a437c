package server

import (
	"container/list"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/goatnote-inc/pawl/client"
)

// Limits bounds the load that one client, or all together, can cause.
type Limits struct {
	Ingests     int           // reports stored at once; further clients must retry
	IngestBytes int64         // bytes of reports in memory at once
	Wait        time.Duration // max time a report waits for its turn to be stored
	Uploads     int           // blobs received at once
	Records     int           // concurrent requests that unpack records; each may use hundreds of megabytes
	Body        time.Duration // max time for a body to arrive; blobs get one more second per MiB
	Request     time.Duration // max time to answer a query
	Buckets     int           // rate limiters kept in memory
	PerAddress  Rate
	PerKey      Rate // per key, per person, or for all jobs of a project
	PerProject  Rate
}

// Rate is a sustained number of requests per second, and a burst.
type Rate struct {
	PerSecond float64
	Burst     int
}

// DefaultLimits returns limits that fit one machine.
func DefaultLimits() Limits {
	return Limits{
		Ingests: 64, IngestBytes: 256 << 20, Wait: 5 * time.Second, Uploads: 64, Records: 2, Body: time.Minute, Request: 30 * time.Second, Buckets: 20_000,
		PerAddress: Rate{1_000, 4_000}, PerKey: Rate{500, 2_000}, PerProject: Rate{1_000, 4_000},
	}
}

func (l Limits) orDefault() Limits {
	d := DefaultLimits()
	setDefault(&l.Ingests, d.Ingests)
	setDefault(&l.IngestBytes, d.IngestBytes)
	l.IngestBytes = max(l.IngestBytes, client.MaxReport) // one report must fit
	setDefault(&l.Wait, d.Wait)
	setDefault(&l.Uploads, d.Uploads)
	setDefault(&l.Records, d.Records)
	setDefault(&l.Body, d.Body)
	setDefault(&l.Request, d.Request)
	setDefault(&l.Buckets, d.Buckets)
	setDefault(&l.PerAddress, d.PerAddress)
	setDefault(&l.PerKey, d.PerKey)
	setDefault(&l.PerProject, d.PerProject)
	return l
}

func setDefault[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}

// failedLogin is the cost of a wrong key or token to its address, in requests. It makes guessing slow.
const failedLogin = 10

// limiterCache holds one rate limiter per client. It evicts the least recently used, so that unknown clients
// cannot exhaust memory.
type limiterCache struct {
	most int
	now  func() time.Time

	mu    sync.Mutex
	byKey map[string]*list.Element
	order list.List // of *bucket, most recent first
}

func bucketOf(e *list.Element) *bucket {
	b, _ := e.Value.(*bucket) // the list holds only *bucket
	return b
}

type bucket struct {
	key   string
	limit *rate.Limiter
}

func newBuckets(most int, now func() time.Time) *limiterCache {
	return &limiterCache{most: most, now: now, byKey: map[string]*list.Element{}}
}

// take takes one token from a bucket. If none is left, it returns how long to wait.
func (b *limiterCache) take(key string, r Rate) (wait time.Duration, ok bool) {
	now := b.now()
	limit := b.of(key, r)
	if limit.AllowN(now, 1) {
		return 0, true
	}
	missing := 1 - limit.TokensAt(now)
	return max(time.Second, time.Duration(missing/r.PerSecond*float64(time.Second))), false
}

// spend takes n tokens even if fewer are left. It charges work that was already done; only later requests
// are refused.
func (b *limiterCache) spend(key string, r Rate, n int) {
	b.of(key, r).ReserveN(b.now(), n)
}

func (b *limiterCache) of(key string, r Rate) *rate.Limiter {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e, ok := b.byKey[key]; ok {
		b.order.MoveToFront(e)
		return bucketOf(e).limit
	}
	for len(b.byKey) >= b.most {
		last := b.order.Back()
		delete(b.byKey, bucketOf(last).key)
		b.order.Remove(last)
	}
	fresh := &bucket{key, rate.NewLimiter(rate.Limit(r.PerSecond), r.Burst)}
	b.byKey[key] = b.order.PushFront(fresh)
	return fresh.limit
}
