package store_test

import (
	"crypto/sha256"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
)

func hashOf(text string) []byte { h := sha256.Sum256([]byte(text)); return h[:] }

func TestAgent_EnrollsOnceAndCanBeRevoked(t *testing.T) {
	now := noon
	s, url := openedAt(t, func() time.Time { return now })
	code, made, err := s.NewAgent(t.Context(), "host-a", "operator", tier.Own, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if n := ask(t, url, `select count(*) from pawl.agent a where a::text like '%' || $1 || '%'`, code); n != 0 {
		t.Error("the code is stored as text")
	}
	if _, err := s.EnrollAgent(t.Context(), "pawl-enroll-x", hashOf("k"), "l4", []string{"cpu:0"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown code: %v", err)
	}
	if _, err := s.AgentByKey(t.Context(), hashOf("k")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a key before it is enrolled: %v", err)
	}
	a, err := s.EnrollAgent(t.Context(), code, hashOf("k"), "l4", []string{"cpu:1", "cpu:0", "cpu:1"})
	if err != nil || a.ID != made.ID || !slices.Equal(a.Devices, []string{"cpu:0", "cpu:1"}) || a.Enrolled == nil {
		t.Fatalf("enrolled %+v, %v", a, err)
	}
	if again, err := s.EnrollAgent(t.Context(), code, hashOf("k"), "l4", []string{"cpu:0", "cpu:1"}); err != nil || again.ID != a.ID {
		t.Errorf("the same request again: %+v, %v", again, err)
	}
	for what, try := range map[string]func() error{
		"another key": func() error {
			_, err := s.EnrollAgent(t.Context(), code, hashOf("other"), "l4", []string{"cpu:0", "cpu:1"})
			return err
		},
		"more devices": func() error {
			_, err := s.EnrollAgent(t.Context(), code, hashOf("k"), "l4", []string{"cpu:0", "cpu:1", "cpu:2"})
			return err
		},
	} {
		if err := try(); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a used code with %s: %v", what, err)
		}
	}
	now = now.Add(2 * time.Hour)
	if got, err := s.AgentByKey(t.Context(), hashOf("k")); err != nil || got.ID != a.ID {
		t.Errorf("by its key: %+v, %v", got, err)
	}
	if n := ask(t, url, `select count(*) from pawl.device where seen = $1`, now); n != 2 {
		t.Errorf("%d devices were seen with their agent, want 2", n)
	}
	if err := s.RevokeAgent(t.Context(), a.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.AgentByKey(t.Context(), hashOf("k")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a revoked key: %v", err)
	}
	list, err := s.Agents(t.Context())
	if err != nil || len(list) != 1 || list[0].Revoked == nil || len(list[0].Devices) != 0 || list[0].LastSeen == nil {
		t.Errorf("agents %+v, %v", list, err)
	}
	if err := s.RevokeAgent(t.Context(), a.ID+1); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown agent: %v", err)
	}
}

func TestAgent_DeviceHasOneAgent(t *testing.T) {
	now := noon
	s, url := openedAt(t, func() time.Time { return now })
	codes := make([]string, 3)
	for i := range codes {
		var err error
		if codes[i], _, err = s.NewAgent(t.Context(), "host", "operator", tier.Own, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	first, err := s.EnrollAgent(t.Context(), codes[0], hashOf("a"), "l4", []string{"GPU-1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.EnrollAgent(t.Context(), codes[1], hashOf("b"), "l4", []string{"GPU-2", "GPU-1"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a device of another agent: %v", err)
	}
	if _, err := s.AgentByKey(t.Context(), hashOf("b")); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the key of a refused enrollment: %v", err)
	}
	if _, err := s.EnrollAgent(t.Context(), codes[1], hashOf("a"), "l4", []string{"GPU-2"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("the key of another agent: %v", err)
	}
	if err := s.RevokeAgent(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	if n := ask(t, url, `select count(*) from pawl.device where id = 'GPU-1' and power = 'closed' and reason <> '' and $1 = 1`, 1); n != 1 {
		t.Error("the device of a revoked agent is not closed")
	}
	if _, err := s.EnrollAgent(t.Context(), codes[1], hashOf("b"), "l4", []string{"GPU-2", "GPU-1"}); err != nil {
		t.Errorf("a device that was freed: %v", err)
	}
	if n := ask(t, url, `select count(*) from pawl.device where model = $1 and host = 'host' and power = 'ready' and reason = ''`, "l4"); n != 2 {
		t.Errorf("%d enrolled devices are in the fleet, want 2", n)
	}
	now = now.Add(time.Hour)
	if _, err := s.EnrollAgent(t.Context(), codes[2], hashOf("c"), "l4", []string{"GPU-3"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an expired code: %v", err)
	}
}

func TestAgent_RefusalsAreKeptFor90Days(t *testing.T) {
	now := noon
	s, _ := openedAt(t, func() time.Time { return now })
	for range 2 {
		if err := s.AddAgentRefusal(t.Context(), store.AgentRefusal{Agent: "1", Remote: "127.0.0.1:1", Method: "x\x00", Reason: "r", Missed: 3}); err != nil {
			t.Fatal(err)
		}
		now = now.AddDate(0, 0, 91)
	}
	list, err := s.AgentRefusals(t.Context())
	if err != nil || len(list) != 1 || list[0].Missed != 3 || list[0].Agent != "1" {
		t.Errorf("refusals %+v, %v", list, err)
	}
}

func TestAgent_ItsTierIsThatOfItsDevices(t *testing.T) {
	s, _ := openedAt(t, func() time.Time { return noon })
	code, _, err := s.NewAgent(t.Context(), "host", "operator", tier.Checked, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	a, err := s.EnrollAgent(t.Context(), code, hashOf("k"), "l4", []string{"GPU-1"})
	if err != nil || a.Tier != tier.Checked {
		t.Fatalf("enrolled %+v, %v", a, err)
	}
	fleet := fleetstore.New(s.DB())
	if list, err := fleet.Devices(t.Context(), "l4"); err != nil || len(list) != 1 || list[0].Tier != tier.Checked {
		t.Errorf("devices %+v, %v", list, err)
	}
	if _, _, err := s.NewAgent(t.Context(), "host", "operator", "trusted", time.Hour); err == nil {
		t.Error("an agent of a tier that does not exist")
	}
}
