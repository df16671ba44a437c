package placement

import (
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/fleet/tier"
)

// tiered returns a device for each tier.
func tiered() Table {
	t := ready("a", "b", "c")
	t.Devices[0].Tier, t.Devices[1].Tier, t.Devices[2].Tier = tier.Own, tier.Checked, tier.Unknown
	return t
}

func askTier(n int, t tier.Tier) Ask {
	a := ask("p", n)
	a.Tier = t
	return a
}

func TestStep_HostServesItsTierOnly(t *testing.T) {
	s := &State{}
	none(t, s, tiered(), noon)
	for i, c := range []struct {
		tier   tier.Tier
		device string
	}{{tier.Unknown, "c"}, {tier.Checked, "b"}, {"", "a"}} {
		if l := one(t, s, askTier(i, c.tier), noon); l.Device != c.device {
			t.Errorf("code of tier %q is on device %s, want %s", c.tier, l.Device, c.device)
		}
	}
	for i, other := range []tier.Tier{tier.Checked, tier.Unknown, tier.Own} {
		none(t, s, askTier(10+i, other), noon)
	}
	if l := one(t, s, Release{Lease: "p-2"}, noon.Add(time.Minute)); l.Tier != tier.Own || l.Device != "a" {
		t.Errorf("granted %+v, want the request of tier own on its device", l)
	}
}

func TestStep_TierWithoutHostLetsOthersPass(t *testing.T) {
	s := &State{}
	none(t, s, ready("a"), noon)
	none(t, s, askTier(0, tier.Checked), noon)
	one(t, s, askTier(1, tier.Own), noon)
	q := s.Queue(noon)
	if len(q) != 1 || q[0].Reason != NoHost || q[0].Tier != tier.Checked || !q[0].Start.IsZero() {
		t.Errorf("queue %+v, want the reason %q", q, NoHost)
	}
}

func TestQueue_EachTierWaitsForItsOwnHosts(t *testing.T) {
	s := &State{}
	table := tiered()
	table.Devices[1].Power = Asleep
	none(t, s, table, noon)
	one(t, s, askTier(0, tier.Own), noon)
	none(t, s, askTier(1, tier.Own), noon)
	none(t, s, askTier(2, tier.Checked), noon)
	q := s.Queue(noon)
	if len(q) != 2 || q[0].Reason != Busy || !q[0].Start.Equal(noon.Add(6*time.Minute)) || q[1].Reason != Wake || !q[1].Start.IsZero() {
		t.Errorf("queue %+v", q)
	}
}

// A calibration measures the agent's own code, so it is for every host.
func TestStep_CalibrationIgnoresTiers(t *testing.T) {
	s := &State{}
	none(t, s, tiered(), noon)
	calibrate := ask("", 0)
	calibrate.Only = "b"
	if l := one(t, s, calibrate, noon); l.Device != "b" {
		t.Errorf("calibrating %s, want b", l.Device)
	}
}
