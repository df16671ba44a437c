package daemon

import (
	"github.com/goatnote-inc/pawl/internal/server"
	"github.com/goatnote-inc/pawl/internal/server/store"
)

// limits returns the limits on load.
func (c *config) limits() server.Limits {
	rate := func(n int) server.Rate { return server.Rate{PerSecond: float64(n), Burst: 4 * n} }
	return server.Limits{
		PerAddress: rate(c.Limits.AddressRate), PerKey: rate(c.Limits.KeyRate), PerProject: rate(c.Limits.ProjectRate),
		Requests: c.Limits.Requests, Stall: c.Limits.Stall, MinRate: int64(c.Limits.MinRate),
	}
}

// bounds returns the limits on what clients can create.
func (c *config) bounds() store.Bounds {
	return store.Bounds{
		Series: int64(c.Limits.Series), PointsPerDay: int64(c.Limits.PointsPerDay), BlobBytes: int64(c.Limits.BlobGiB) << 30,
		Hooks: int64(c.Limits.Hooks), Keys: int64(c.Limits.Keys), Members: int64(c.Limits.Members), Rules: int64(c.Limits.Rules),
		Database: int64(c.Limits.DatabaseGiB) << 30,
	}
}
