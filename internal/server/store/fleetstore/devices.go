package fleetstore

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/fleet/calibration"
	"github.com/goatnote-inc/pawl/internal/fleet/job"
	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/fleet/tier"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Device is a card in the table of devices.
type Device struct {
	placement.Device        // Power is what it is now
	Model            string `json:"model"`
	Reason           string `json:"reason,omitzero"` // why it is closed
	Sleeps           bool   `json:"sleeps,omitzero"` // its host is off unless something starts it

	Driver       string             `json:"driver,omitzero"`       // of the latest measurement
	Since        time.Time          `json:"since,omitzero"`        // of its quarantine
	Calibration  calibration.Record `json:"calibration,omitzero"`  // the latest one with a result
	Tried        calibration.Record `json:"tried,omitzero"`        // the latest one, if it has no result
	Calibrations int                `json:"calibrations,omitzero"` // with a result
	FalseAlarms  int                `json:"false_alarms,omitzero"` // among them
}

// Last returns the latest calibration, with or without a result.
func (d *Device) Last() calibration.Record {
	if d.Tried.Error != "" {
		return d.Tried
	}
	return d.Calibration
}

// AwakeFor is how long after a poll an agent counts as there. A poll takes a minute, and the store notes one a minute.
const AwakeFor = 150 * time.Second

// wake sets the power of a sleeping device whose agent waits for leases: a batch job or the fleet has started its host.
func (d *Device) wake(now time.Time) {
	d.Sleeps = d.Power == placement.Asleep
	if d.Sleeps && now.Sub(d.Seen) < AwakeFor {
		d.Power = placement.Ready
	}
}

// Devices returns the devices of a model, or all if it is empty. The tier of a device is that of its agent.
func (s *Store) Devices(ctx context.Context, model string) ([]Device, error) {
	list, err := pg.Collect(ctx, s.db.Pool, func(row pgx.CollectableRow) (d Device, err error) {
		var seen, since, at, tried *time.Time
		err = row.Scan(append([]any{
			&d.ID, &d.Model, &d.Host, &d.Power, &d.Reason, &d.Price, &seen, &d.Driver, &d.Quarantine, &since, &d.Calibrations, &d.FalseAlarms, &tried, &d.Tried.Error, &d.Tier,
		}, calibrationFields(&d.Calibration, &at)...)...)
		d.Seen, d.Since, d.Calibration.At = timeOf(seen), timeOf(since), timeOf(at)
		if d.Tried.Error != "" {
			d.Tried.At, d.Tried.Driver = timeOf(tried), d.Calibration.Driver
		}
		d.wake(s.db.Now())
		return d, err
	}, `select d.id, d.model, d.host, d.power, d.reason, d.price, d.seen, d.driver, d.quarantine, d.quarantined, n.measured, n.alarms, t.at, coalesce(t.error, ''),
			coalesce((select a.tier from pawl.agent_device ad join pawl.agent a on a.id = ad.agent_id where ad.device = d.id), 'own'), `+calibrationColumns+`
		from pawl.device d
		left join lateral (select * from pawl.calibration x where x.device = d.id and x.error = '' order by x.id desc limit 1) c on true
		left join lateral (select x.at, x.error from pawl.calibration x where x.device = d.id order by x.id desc limit 1) t on true
		cross join lateral (select count(*) measured, count(*) filter (where x.false_alarm) alarms from pawl.calibration x where x.device = d.id and x.error = '') n
		where $1 = '' or d.model = $1 order by d.model, d.id limit 10000`, model)
	return list, pg.Wrap(err, "cannot list devices")
}

// Builder returns the host for which builds of a model and a tier are made elsewhere: that of most cards, among those for
// which a host that only builds has been heard since. It is empty if there is none.
func (s *Store) Builder(ctx context.Context, model string, t tier.Tier, since time.Time) (h job.Host, err error) {
	err = s.db.Pool.QueryRow(ctx, `select a.tools, a.arch
		from pawl.device d join pawl.agent_device ad on ad.device = d.id join pawl.agent a on a.id = ad.agent_id
		where d.model = $1 and d.power <> 'closed' and a.tier = $2 and a.tools <> '' and exists (
			select from pawl.agent b where b.builds and b.revoked is null and b.tier = a.tier and b.tools = a.tools and b.last_seen >= $3)
		group by a.tools, a.arch order by count(*) desc, a.tools, a.arch limit 1`, model, cmp.Or(t, tier.Own), since).Scan(&h.Tools, &h.Arch)
	if errors.Is(err, pgx.ErrNoRows) {
		return job.Host{}, nil
	}
	return h, pg.Wrap(err, "cannot find a host that builds for model %s", model)
}

// SetDevice adds a device or changes it, except for when it was seen and what calibrations said.
func (s *Store) SetDevice(ctx context.Context, d Device) error {
	_, err := s.db.Pool.Exec(ctx, `insert into pawl.device (id, model, host, power, reason, price) values ($1, $2, $3, $4, $5, $6)
		on conflict (id) do update set model = $2, host = $3, power = $4, reason = $5, price = $6`,
		d.ID, d.Model, d.Host, d.Power, d.Reason, d.Price)
	if pg.Violates(err, "23514") {
		return &pg.InvalidError{What: "a device needs an ID of 1 to 100 bytes, a model of 1 to 64, a power of ready, asleep or closed, and a price of at least 0"}
	}
	return pg.Wrap(pg.Input(err), "cannot set device %s", d.ID)
}

// RemoveDevice removes a device, or returns [pg.ErrNotFound].
func (s *Store) RemoveDevice(ctx context.Context, id string) error {
	tag, err := s.db.Pool.Exec(ctx, `delete from pawl.device where id = $1`, id)
	if err == nil && tag.RowsAffected() == 0 {
		err = pg.ErrNotFound
	}
	return pg.Wrap(err, "device %s", id)
}
