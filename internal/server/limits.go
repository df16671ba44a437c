package server

import (
	"container/list"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/goatnote-inc/pawl/client"
)

// Limits bound what one visitor, and all of them together, can make the server do.
type Limits struct {
	Ingests     int           // reports stored at once; more are told to come again
	IngestBytes int64         // bytes of reports in memory at once
	Wait        time.Duration // what a report waits for its turn to be stored
	Uploads     int           // blobs received at once
	Records     int           // requests at once that unpack records: each may hold hundreds of megabytes
	Body        time.Duration // what a body may take to arrive; blobs get a second more per MiB
	Request     time.Duration // what the answer to a question may take
	Buckets     int           // rates that are remembered
	PerAddress  Rate
	PerKey      Rate // of a key, a person or the jobs of a project
	PerProject  Rate
}

// Rate is how often: so many a second in the long run, so many at once.
type Rate struct {
	PerSecond float64
	Burst     int
}

// DefaultLimits fit one machine.
func DefaultLimits() Limits {
	return Limits{
		Ingests: 64, IngestBytes: 256 << 20, Wait: 5 * time.Second, Uploads: 64, Records: 2, Body: time.Minute, Request: 30 * time.Second, Buckets: 20_000,
		PerAddress: Rate{1_000, 4_000}, PerKey: Rate{500, 2_000}, PerProject: Rate{1_000, 4_000},
	}
}

func (l Limits) orDefault() Limits {
	d := DefaultLimits()
	or(&l.Ingests, d.Ingests)
	or(&l.IngestBytes, d.IngestBytes)
	l.IngestBytes = max(l.IngestBytes, client.MaxReport) // one must fit
	or(&l.Wait, d.Wait)
	or(&l.Uploads, d.Uploads)
	or(&l.Records, d.Records)
	or(&l.Body, d.Body)
	or(&l.Request, d.Request)
	or(&l.Buckets, d.Buckets)
	or(&l.PerAddress, d.PerAddress)
	or(&l.PerKey, d.PerKey)
	or(&l.PerProject, d.PerProject)
	return l
}

func or[T comparable](value *T, otherwise T) {
	var zero T
	if *value == zero {
		*value = otherwise
	}
}

// failedLogin is what a wrong key or token costs its address, in requests: guessing
// must be slower than asking.
const failedLogin = 10

// buckets are the rates of whoever came lately. The one that was not seen for longest
// is forgotten first, so that strangers cannot fill the memory.
type buckets struct {
	most int
	now  func() time.Time

	mu    sync.Mutex
	byKey map[string]*list.Element
	order list.List // of *bucket, the latest first
}

func bucketOf(e *list.Element) *bucket {
	b, _ := e.Value.(*bucket) // nothing else is in the list
	return b
}

type bucket struct {
	key   string
	limit *rate.Limiter
}

func newBuckets(most int, now func() time.Time) *buckets {
	return &buckets{most: most, now: now, byKey: map[string]*list.Element{}}
}

// take takes a token of a bucket, or tells when there will be one.
func (b *buckets) take(key string, r Rate) (wait time.Duration, ok bool) {
	now := b.now()
	limit := b.of(key, r)
	if limit.AllowN(now, 1) {
		return 0, true
	}
	missing := 1 - limit.TokensAt(now)
	return max(time.Second, time.Duration(missing/r.PerSecond*float64(time.Second))), false
}

// spend takes tokens also where there are none: what was done cannot be refused, only
// what comes next.
func (b *buckets) spend(key string, r Rate, n int) {
	b.of(key, r).ReserveN(b.now(), n)
}

func (b *buckets) of(key string, r Rate) *rate.Limiter {
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
