package agents_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/fleet/gateway"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/internal/server/agents"
	"github.com/goatnote-inc/pawl/internal/server/blob"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/storetest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	storetest.Stop()
	os.Exit(code)
}

func opened(t *testing.T) *store.Store {
	t.Helper()
	s, err := store.Open(t.Context(), store.Config{URL: storetest.URL(t), Conns: 4, AllowUnsafe: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestKeys_EnrolledAgentHasItsQueues(t *testing.T) {
	s := opened(t)
	k := agents.Keys{Store: s}
	code, made, err := s.NewAgent(t.Context(), "host", "operator", tier.Own, false, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	key := sha256.Sum256([]byte("key"))
	if _, err := k.Enroll(t.Context(), job.Enrollment{Code: "guess", Model: "cpu", Devices: []string{"cpu:0"}}, key); !errors.Is(err, gateway.ErrUnknown) {
		t.Errorf("an unknown code: %v", err)
	}
	a, err := k.Enroll(t.Context(), job.Enrollment{Code: code, Model: "cpu", Devices: []string{"cpu:0"}}, key)
	if err != nil || !slices.Equal(a.Queues, []string{job.Queue("cpu:0"), job.BuildQueue("cpu:0")}) {
		t.Fatalf("%+v, %v", a, err)
	}
	if again, err := k.Agent(t.Context(), key); err != nil || again.ID != a.ID || !slices.Equal(again.Queues, a.Queues) {
		t.Errorf("%+v, %v", again, err)
	}
	if err := s.RevokeAgent(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := k.Agent(t.Context(), key); !errors.Is(err, gateway.ErrUnknown) {
		t.Errorf("a revoked key: %v", err)
	}
}

func TestBlobs_BelongToAProject(t *testing.T) {
	s := opened(t)
	if _, err := s.CreateProject(t.Context(), store.Project{Project: client.Project{Slug: "kernels"}, Settings: store.Settings{BlobBytes: 1000}}); err != nil {
		t.Fatal(err)
	}
	bucket, err := blob.Open(t.Context(), "file://"+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer bucket.Close()
	b := agents.Blobs{Store: s, Bucket: bucket}
	sum := sha256.Sum256([]byte("zip"))
	digest := hex.EncodeToString(sum[:])
	if err := b.Put(t.Context(), "kernels", digest, strings.NewReader("zip"), 3); err != nil {
		t.Fatal(err)
	}
	r, err := b.Get(t.Context(), "kernels", digest)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if text, err := io.ReadAll(r); err != nil || string(text) != "zip" {
		t.Errorf("%q, %v", text, err)
	}
	if err := b.Put(t.Context(), "kernels", digest, strings.NewReader("zap"), 3); !errors.Is(err, gateway.ErrMismatch) {
		t.Errorf("another content: %v", err)
	}
	if err := b.Put(t.Context(), "kernels", strings.Repeat("a", 64), strings.NewReader(strings.Repeat("x", 1000)), 1000); !errors.Is(err, gateway.ErrFull) {
		t.Errorf("more than the quota: %v", err)
	}
	if err := b.Put(t.Context(), "other", digest, strings.NewReader("zip"), 3); !errors.Is(err, gateway.ErrUnknown) {
		t.Errorf("an unknown project: %v", err)
	}
	if _, err := b.Get(t.Context(), "kernels", strings.Repeat("0", 64)); !errors.Is(err, gateway.ErrUnknown) {
		t.Errorf("an unknown file: %v", err)
	}
}

func TestAudit_KeepsRefusals(t *testing.T) {
	s := opened(t)
	agents.Audit{Store: s, Log: slog.New(slog.DiscardHandler)}.Refused(t.Context(), gateway.Refusal{Agent: "1", Method: "m", Reason: "r"})
	if list, err := s.AgentRefusals(t.Context()); err != nil || len(list) != 1 || list[0].Reason != "r" {
		t.Errorf("%+v, %v", list, err)
	}
}
