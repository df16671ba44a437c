package agent

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/goatnote-inc/pawl/internal/base/disk"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/measure"
)

// admit refuses a lease whose code this host is not for, whatever the server says. A calibration runs the agent's own
// code, which every host serves.
func (a *Agent) admit(l job.Lease) error {
	switch {
	case l.Calibrate != 0:
		return nil
	case l.Elsewhere() != a.id.onlyBuilds() || l.Elsewhere() && !a.has(l.Host.Tools):
		return errors.New("it is not for this host")
	case !tier.Serves(a.id.Tier, l.Tier):
		return fmt.Errorf("its code is of tier %.20q, this host serves %q", l.Tier, a.id.Tier)
	case !tier.Serves(tier.Own, l.Tier) && l.Trust != string(measure.Checked):
		return fmt.Errorf("code of tier %q needs the level checked, not %.20q", l.Tier, l.Trust)
	}
	return nil
}

const maxLeaseName = 4 << 10

// usedFile names the lease of unknown code that ran on this host.
func (a *Agent) usedFile() string { return a.identityFile() + ".used" }

// use remembers the lease of unknown code before anything of it runs.
func (a *Agent) use(lease string) error {
	if a.id.Tier != tier.Unknown {
		return nil
	}
	used, err := disk.ReadRegular(a.usedFile(), maxLeaseName)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return disk.WriteAtomic(a.usedFile(), []byte(lease))
	case err != nil:
		return fmt.Errorf("cannot read which lease ran on this host: %w", err)
	case string(used) != lease:
		return errors.New("this host has run unknown code before: it must be thrown away")
	}
	return nil
}

// fresh refuses to start on a host of unknown code that is not for one lease, or has had another one. It cannot know
// what happened outside its folder.
func (a *Agent) fresh(only *once) error {
	if a.id.Tier != tier.Unknown {
		return nil
	}
	if only == nil {
		return errors.New("this host is for unknown code, so it carries out one lease and is thrown away: use pawl-agent once")
	}
	if used, err := disk.ReadRegular(a.usedFile(), maxLeaseName); !errors.Is(err, fs.ErrNotExist) && (err != nil || string(used) != only.lease) {
		return errors.New("this host has run unknown code before: throw it away, and start a new one")
	}
	return nil
}
