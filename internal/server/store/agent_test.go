package store_test

import (
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/internal/server/store"
	"github.com/goatnote-inc/pawl/internal/server/store/fleetstore"
)

func hashOf(text string) []byte { h := sha256.Sum256([]byte(text)); return h[:] }

func TestAgent_EnrollsOnceAndCanBeRevoked(t *testing.T) {
	now := noon
	s, url := openedAt(t, func() time.Time { return now })
	code, made, err := s.NewAgent(t.Context(), "host-a", "operator", tier.Own, false, time.Hour)
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

// A host of unknown code takes one lease: its devices get no other one, also if its key was copied.
func TestAgent_TakesOnlyOneLease(t *testing.T) {
	s, url := openedAt(t, func() time.Time { return noon })
	enroll := func(key string) store.Agent {
		t.Helper()
		code, _, err := s.NewAgent(t.Context(), "host", "operator", tier.Unknown, false, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		a, err := s.EnrollAgent(t.Context(), code, hashOf(key), "l4", []string{"GPU-1"})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	a := enroll("k")
	for _, x := range []struct {
		lease string
		want  error
	}{{"one", nil}, {"one", nil}, {"two", store.ErrNotFound}, {"one", nil}} {
		if err := s.TakeOnly(t.Context(), a.ID, x.lease); !errors.Is(err, x.want) {
			t.Errorf("lease %s: %v, want %v", x.lease, err, x.want)
		}
	}
	if n := ask(t, url, `select count(*) from pawl.device where power = 'closed' and reason like '%: one'`); n != 1 {
		t.Error("the device is open after its lease")
	}
	if err := s.RevokeAgent(t.Context(), a.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.TakeOnly(t.Context(), a.ID, "one"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a revoked agent: %v", err)
	}
	again := enroll("other")
	if n := ask(t, url, `select count(*) from pawl.device where power = 'ready' and reason = ''`); n != 1 {
		t.Error("the device is closed after it was enrolled again")
	}
	if err := s.TakeOnly(t.Context(), again.ID, "two"); err != nil {
		t.Error(err)
	}
}

func TestAgent_DeviceHasOneAgent(t *testing.T) {
	now := noon
	s, url := openedAt(t, func() time.Time { return now })
	codes := make([]string, 3)
	for i := range codes {
		var err error
		if codes[i], _, err = s.NewAgent(t.Context(), "host", "operator", tier.Own, false, time.Hour); err != nil {
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
	code, _, err := s.NewAgent(t.Context(), "host", "operator", tier.Checked, false, time.Hour)
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
	if _, _, err := s.NewAgent(t.Context(), "host", "operator", "trusted", false, time.Hour); err == nil {
		t.Error("an agent of a tier that does not exist")
	}
}

func TestAgent_HostThatOnlyBuilds(t *testing.T) {
	now := noon
	s, _ := openedAt(t, func() time.Time { return now })
	fleet, tools := fleetstore.New(s.DB()), strings.Repeat("a", 64)
	enroll := func(serves tier.Tier, key string, devices ...string) store.Agent {
		t.Helper()
		code, _, err := s.NewAgent(t.Context(), key, "operator", serves, len(devices) == 0, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		for _, wrong := range [][]string{nil, {"GPU-9"}} { // a code is for one of them
			if (len(wrong) == 0) == (len(devices) == 0) {
				continue
			}
			if _, err := s.EnrollAgent(t.Context(), code, hashOf(key), "l4", wrong); !errors.Is(err, store.ErrNotFound) {
				t.Fatalf("enrolled %v with the code for %v: %v", wrong, devices, err)
			}
		}
		a, err := s.EnrollAgent(t.Context(), code, hashOf(key), "l4", devices)
		if err != nil || a.Builds != (len(devices) == 0) {
			t.Fatalf("enrolled %+v, %v", a, err)
		}
		return a
	}
	is := func(step string, want job.Host) {
		t.Helper()
		if h, err := fleet.Builder(t.Context(), "l4", tier.Own, now.Add(-time.Minute)); err != nil || h != want {
			t.Errorf("%s: builds are for %+v, %v, want %+v", step, h, err, want)
		}
	}
	describe := func(a store.Agent, h job.Host) {
		t.Helper()
		if got, err := s.DescribeAgent(t.Context(), a.ID, h); err != nil || got.Host != h {
			t.Fatalf("described as %+v, %v", got, err)
		}
	}
	seen := func(key string) {
		t.Helper()
		if _, err := s.AgentByKey(t.Context(), hashOf(key)); err != nil {
			t.Fatal(err)
		}
	}
	card, builder := enroll(tier.Own, "card", "GPU-1"), enroll(tier.Own, "builder")
	foreign := enroll(tier.Checked, "foreign")
	l4 := job.Host{Tools: tools, Arch: "sm_89"}
	is("nobody says anything", job.Host{})
	describe(card, l4)
	seen("card")
	is("no host builds", job.Host{})
	describe(foreign, job.Host{Tools: tools})
	seen("foreign")
	is("one of another tier builds", job.Host{})
	describe(builder, job.Host{Tools: strings.Repeat("b", 64)})
	seen("builder")
	is("one with other tools builds", job.Host{})
	describe(builder, job.Host{Tools: tools})
	is("one builds", l4)
	now = now.Add(10 * time.Minute)
	is("it is away", job.Host{})
	seen("builder")
	is("it is back", l4)
	describe(card, job.Host{})
	is("the card takes none any more", job.Host{})
	describe(card, l4)
	if err := s.RevokeAgent(t.Context(), builder.ID); err != nil {
		t.Fatal(err)
	}
	is("it was revoked", job.Host{})
	if _, err := s.DescribeAgent(t.Context(), builder.ID, l4); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a revoked agent describes its host: %v", err)
	}
	if _, err := s.DescribeAgent(t.Context(), card.ID, job.Host{Tools: "none"}); err == nil {
		t.Error("tools without a digest")
	}
}
