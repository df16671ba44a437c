package daemon

import (
	"context"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/internal/server/queue"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
)

// watch adds the values that are read from the parts at each scrape.
func (m *metrics) watch(p *components, h *health) {
	m.gauge("pawld_draining", "1 while the server is shutting down.", func() float64 {
		if h.draining.Load() {
			return 1
		}
		return 0
	})
	m.gauge("pawld_ready", "1 while requests can be served: the database answers and its schema fits. 0 otherwise.", func() float64 {
		if h.state.Load() == stateReady && !h.draining.Load() {
			return 1
		}
		return 0
	})
	pool := p.store.DB().Pool
	m.gauge("pawld_database_connections", "Connections to the database.", func() float64 { return float64(pool.Stat().TotalConns()) })
	m.gauge("pawld_database_connections_max", "Maximum number of connections to the database.", func() float64 { return float64(pool.Stat().MaxConns()) })
	m.gauge("pawld_database_connections_busy", "Connections to the database in use.", func() float64 { return float64(pool.Stat().AcquiredConns()) })
	m.gauge("pawld_database_waits", "Times that a query had to wait for a connection, since the start.", func() float64 { return float64(pool.Stat().EmptyAcquireCount()) })
	f := &fleetMetrics{agents: p.store.Agents, now: time.Now}
	f.devices = func(ctx context.Context) ([]fleetstore.Device, error) {
		return fleetstore.New(p.store.DB()).Devices(ctx, "")
	}
	if p.engine != nil {
		f.queue = p.engine.Queue
		if f.managed = p.engine.Managed(); f.managed > 0 {
			f.hosts = p.engine.Hosts
		}
	}
	m.registry.MustRegister(f)
	d := depth{ask: p.queue.Depth}
	m.gauge("pawld_queue_waiting", "Jobs that are ready to run and waiting.", func() float64 { return float64(d.now().Waiting) })
	m.gauge("pawld_queue_running", "Running jobs.", func() float64 { return float64(d.now().Running) })
	m.gauge("pawld_queue_failing", "Jobs that failed and will be retried.", func() float64 { return float64(d.now().Failing) })
	m.gauge("pawld_queue_oldest_seconds", "How long the oldest job that is ready to run has waited.", func() float64 { return d.now().Oldest.Seconds() })
}

// depth queries the database once per scrape for all its values.
type depth struct {
	ask  func(context.Context) (queue.Depth, error)
	mu   sync.Mutex
	at   time.Time
	last queue.Depth
}

func (d *depth) now() queue.Depth {
	d.mu.Lock()
	defer d.mu.Unlock()
	if time.Since(d.at) > time.Second {
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if got, err := d.ask(ctx); err == nil {
			d.last = got
		} else {
			d.last = queue.Depth{Waiting: -1, Running: -1, Failing: -1, Oldest: -time.Second} // unknown
		}
		d.at = time.Now()
	}
	return d.last
}
