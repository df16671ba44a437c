package store_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/pointstore"
	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
	"github.com/goatnote-inc/pawl/measure"
)

// noon is when tests happen.
var noon = time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)

// opened is a store on a database of its own, with a clock that stands.
func opened(t testing.TB) (*store.Store, string) {
	t.Helper()
	return openedAt(t, func() time.Time { return noon })
}

func openedAt(t testing.TB, now func() time.Time) (*store.Store, string) {
	t.Helper()
	url := storetest.URL(t)
	s, err := store.Open(t.Context(), store.Config{URL: url, Conns: 16, AllowUnsafe: true, Now: now}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, url
}

func projectNamed(t testing.TB, s *store.Store, slug string) int64 {
	t.Helper()
	p, err := s.CreateProject(t.Context(), store.Project{Project: client.Project{Slug: slug}})
	if err != nil {
		t.Fatal(err)
	}
	return p.ID
}

func sha(n int) string { return fmt.Sprintf("%040x", n+1) }

// reportNo is the n-th report of a suite of so many cases: one commit an hour.
func reportNo(n, cases int) *client.Report {
	at := noon.Add(-30 * 24 * time.Hour).Add(time.Duration(n) * time.Hour)
	r := &client.Report{
		Schema: client.SchemaReport, Run: fmt.Sprintf("01RUN%021d", n), Measured: at.Add(time.Minute), Pawl: "0.8.0", Suite: "kernels",
		Commit: client.Commit{SHA: sha(n), Parent: sha(n - 1), At: &at, Author: "mona", Title: "make it fast"},
		Branch: "main", Trust: measure.Checked,
		Testbed: measure.Testbed{Kind: gpu.NVIDIA, Device: "L4", Driver: "570.1"},
		Verdict: "maintained", Sentence: "nothing moved",
	}
	for c := range cases {
		v := 1000 + float64(c) + float64(n%7)
		r.Points = append(r.Points, client.Point{
			CaseKey: measure.CaseKey{Benchmark: "matmul", Config: fmt.Sprintf("N%d", c), Implementation: "candidate"},
			Unit:    "ns", Timer: measure.TimerDevice, Value: v, Low: v * 0.99, High: v * 1.01, Spread: 0.01, Rounds: 8, Verdict: "maintained", Baseline: 1000,
			Path: "kernels/matmul.cu", Owners: []string{"@octo/kernels"},
		})
	}
	return r
}

func incoming(r *client.Report, lane client.Lane) store.Incoming {
	key := sha256.Sum256([]byte("pawl.report/v1\n" + r.Run))
	body := binary.BigEndian.AppendUint64([]byte(r.Run), uint64(len(r.Points)))
	return store.Incoming{Key: hex.EncodeToString(key[:]), Body: sha256.Sum256(body), Report: r, Lane: lane, Sender: map[string]string{"key": "1"}}
}

func ingest(t testing.TB, s *store.Store, project int64, r *client.Report, lane client.Lane) client.Receipt {
	t.Helper()
	got, err := s.Ingest(t.Context(), project, incoming(r, lane))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// ask runs a query as the superuser, who sees everything, and gives its one number.
func ask(t testing.TB, url, sql string, args ...any) int64 {
	t.Helper()
	conn := owner(t, url)
	defer conn.Close(context.WithoutCancel(t.Context())) // or a test that polls uses up all connections
	var n int64
	if err := conn.QueryRow(t.Context(), sql, args...).Scan(&n); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return n
}

// allPoints reads series as a scan does.
func allPoints(ctx context.Context, s *store.Store, project int64, series []int64) (all map[int64][]pointcodec.Point, err error) {
	err = s.DB().InProject(ctx, project, func(tx pgx.Tx) (err error) {
		all, _, err = pointstore.Of(ctx, tx, project, slices.Sorted(slices.Values(series)), math.MaxInt)
		return err
	})
	return all, err
}
