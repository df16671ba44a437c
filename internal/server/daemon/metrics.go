package daemon

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/goatnote-inc/pawl/internal/base/version"
)

// metrics counts events. Every label comes from a fixed list (a route, a method, a status, a reason, a job).
// Projects, series and paths are never labels, because their number is unbounded.
// docs/reference/metrics.md lists all metrics.
type metrics struct {
	registry *prometheus.Registry

	requests  *prometheus.CounterVec
	took      *prometheus.HistogramVec
	points    prometheus.Counter
	reports   *prometheus.CounterVec
	refused   *prometheus.CounterVec
	jobs      *prometheus.HistogramVec
	lag       prometheus.Histogram
	lastSweep *prometheus.GaugeVec
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "pawld_requests_total", Help: "Requests answered, by route pattern."}, []string{"route", "method", "code"}),
		took: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "pawld_request_seconds", Help: "Time to answer a request.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
		}, []string{"route", "method"}),
		points:  prometheus.NewCounter(prometheus.CounterOpts{Name: "pawld_ingest_points_total", Help: "Points stored."}),
		reports: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "pawld_ingest_reports_total", Help: "Reports answered with a receipt: new ones, and those already stored."}, []string{"again"}),
		refused: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "pawld_refused_total", Help: "Requests refused, by reason."}, []string{"reason"}),
		jobs: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "pawld_job_seconds", Help: "Duration of queue jobs.",
			Buckets: []float64{.005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300},
		}, []string{"job", "outcome"}),
		lag: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "pawld_detection_lag_seconds", Help: "Time from storing a report to the end of its scan.",
			Buckets: []float64{.05, .1, .25, .5, 1, 2.5, 5, 10, 20, 30, 60, 120, 300},
		}),
		lastSweep: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "pawld_job_last_success_timestamp_seconds", Help: "Time of the last success of a job."}, []string{"job"}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "pawld_build_info", Help: "Always 1; the labels identify the pawld build.",
		ConstLabels: prometheus.Labels{"version": version.Version(), "commit": version.Commit()},
	})
	build.Set(1)
	m.registry.MustRegister(
		m.requests, m.took, m.points, m.reports, m.refused, m.jobs, m.lag, m.lastSweep, build,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	for _, again := range []string{"false", "true"} {
		m.reports.WithLabelValues(again) // start at 0, so that its rate is defined
	}
	return m
}

// Request counts a response and names it in its trace.
func (m *metrics) Request(ctx context.Context, route, method string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	m.took.WithLabelValues(route, method).Observe(took.Seconds())
	nameSpan(ctx, route, method, status)
}

// Ingested counts a receipt.
func (m *metrics) Ingested(points int, again bool) {
	m.reports.WithLabelValues(strconv.FormatBool(again)).Inc()
	if !again {
		m.points.Add(float64(points))
	}
}

// Refused counts a request that was refused.
func (m *metrics) Refused(reason string) { m.refused.WithLabelValues(reason).Inc() }

// job wraps a job of the queue to record its duration and result.
func (m *metrics) job(name string, do func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		began := time.Now()
		err := do(ctx)
		m.jobDone(name, began, err)
		return err
	}
}

func (m *metrics) jobDone(name string, began time.Time, err error) {
	outcome := "ok"
	if err != nil {
		outcome = "failed"
	} else {
		m.lastSweep.WithLabelValues(name).SetToCurrentTime()
	}
	m.jobs.WithLabelValues(name, outcome).Observe(time.Since(began).Seconds())
}

// gauge adds a value that is read at each scrape.
func (m *metrics) gauge(name, help string, read func() float64) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, read))
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 20 * time.Second})
}
