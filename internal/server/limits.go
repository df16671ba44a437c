package server

import (
	"cmp"
	"time"

	"golang.org/x/time/rate"

	"github.com/goatnote-inc/pawl/client"
)

// Limits bounds the load that one client, or all together, can cause. No project can use more than a
// quarter of what is counted at once, see [projectBudget].
type Limits struct {
	Ingests     int           // reports stored at once; further clients must retry
	IngestBytes int64         // bytes of reports in memory at once
	Wait        time.Duration // max time a report waits for its turn to be stored
	Uploads     int           // blobs received at once
	Records     int           // records unpacked at once; each may use hundreds of megabytes
	RecordBytes int64         // bytes of packed records being sent at once
	Requests    int           // queries and pages answered at once
	Exports     int           // exports at once
	Stall       time.Duration // max time that a client may pause while it sends or reads
	MinRate     int64         // min bytes per second of a client that sends or reads
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

// orDefault replaces zero fields by limits that fit one machine.
func (l Limits) orDefault() Limits {
	return Limits{
		Ingests:     cmp.Or(l.Ingests, 64),
		IngestBytes: max(cmp.Or(l.IngestBytes, 256<<20), client.MaxReport), // one report must fit
		Wait:        cmp.Or(l.Wait, 5*time.Second),
		Uploads:     cmp.Or(l.Uploads, 64),
		Records:     cmp.Or(l.Records, 2),
		RecordBytes: max(cmp.Or(l.RecordBytes, 256<<20), maxPacked), // one record must fit
		Requests:    cmp.Or(l.Requests, 64),
		Exports:     cmp.Or(l.Exports, 8),
		Stall:       cmp.Or(l.Stall, 20*time.Second),
		MinRate:     cmp.Or(l.MinRate, 32<<10),
		Request:     cmp.Or(l.Request, 30*time.Second),
		Buckets:     cmp.Or(l.Buckets, 20_000),
		PerAddress:  cmp.Or(l.PerAddress, Rate{1_000, 4_000}),
		PerKey:      cmp.Or(l.PerKey, Rate{500, 2_000}),
		PerProject:  cmp.Or(l.PerProject, Rate{1_000, 4_000}),
	}
}

// failedLogin is the cost of a wrong key or token to its address, in requests. It makes guessing slow.
const failedLogin = 10

// limiterCache holds one rate limiter per client. It is bounded, so that unknown clients cannot exhaust
// memory.
type limiterCache struct {
	*lru[*rate.Limiter]
	now func() time.Time
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
	return b.getOr(key, 1, func() *rate.Limiter { return rate.NewLimiter(rate.Limit(r.PerSecond), r.Burst) })
}
