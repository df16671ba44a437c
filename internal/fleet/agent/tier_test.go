package agent

import (
	"testing"

	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
)

func TestAdmit_RefusesCodeOfAnotherTier(t *testing.T) {
	for _, c := range []struct {
		name  string
		host  tier.Tier
		lease job.Lease
		want  bool
	}{
		{"own code on a host from before tiers", "", job.Lease{}, true},
		{"own code", tier.Own, job.Lease{Tier: tier.Own, Trust: "trusted"}, true},
		{"code of a fork on a host for own code", tier.Own, job.Lease{Tier: tier.Checked, Trust: "checked"}, false},
		{"code of a fork on a host from before tiers", "", job.Lease{Tier: tier.Checked, Trust: "checked"}, false},
		{"code of a fork", tier.Checked, job.Lease{Tier: tier.Checked, Trust: "checked"}, true},
		{"code of a fork that is not checked", tier.Checked, job.Lease{Tier: tier.Checked, Trust: "trusted"}, false},
		{"code of a fork at the level of its suite", tier.Checked, job.Lease{Tier: tier.Checked}, false},
		{"own code on a host for forks", tier.Checked, job.Lease{Tier: tier.Own}, false},
		{"code without a tier on a host for forks", tier.Checked, job.Lease{Trust: "checked"}, false},
		{"unknown code on a host for forks", tier.Checked, job.Lease{Tier: tier.Unknown, Trust: "checked"}, false},
		{"unknown code", tier.Unknown, job.Lease{Tier: tier.Unknown, Trust: "checked"}, true},
		{"unknown code that is not checked", tier.Unknown, job.Lease{Tier: tier.Unknown, Trust: "self-timed"}, false},
		{"a tier of a later version", tier.Checked, job.Lease{Tier: "other", Trust: "checked"}, false},
		{"a calibration", tier.Checked, job.Lease{Calibrate: 7}, true},
	} {
		a := &Agent{id: identity{Tier: c.host, Devices: []string{"cpu:0"}}}
		if err := a.admit(c.lease); (err == nil) != c.want {
			t.Errorf("%s: %v, want it carried out: %v", c.name, err, c.want)
		}
	}
}

func TestFresh_UnknownCodeRunsOnceOnAHost(t *testing.T) {
	a := &Agent{state: t.TempDir(), id: identity{Tier: tier.Unknown}}
	if a.fresh(nil) == nil {
		t.Error("the host would take leases without end")
	}
	first, second := &once{lease: "first"}, &once{lease: "second"}
	if err := a.fresh(first); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the next attempt of the same lease
		if err := a.use("first"); err != nil {
			t.Error(err)
		}
	}
	if err := a.fresh(first); err != nil { // after a crash
		t.Error(err)
	}
	if a.fresh(second) == nil || a.use("second") == nil {
		t.Error("a second lease on the same host")
	}
	a.id.Tier = tier.Checked
	if err := a.fresh(nil); err != nil {
		t.Error(err)
	}
	if err := a.use("other"); err != nil {
		t.Error(err)
	}
}
