package fleetstore

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/internal/fleet/placement"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// Device is a card in the table of devices.
type Device struct {
	placement.Device
	Model  string `json:"model"`
	Reason string `json:"reason,omitzero"` // why it is closed
}

// Devices returns the devices of a model, or all if it is empty.
func (s *Store) Devices(ctx context.Context, model string) ([]Device, error) {
	list, err := pg.Collect(ctx, s.db.Pool, func(row pgx.CollectableRow) (d Device, err error) {
		var seen *time.Time
		err = row.Scan(&d.ID, &d.Model, &d.Host, &d.Power, &d.Reason, &d.Price, &seen)
		if seen != nil {
			d.Seen = seen.UTC()
		}
		return d, err
	}, `select id, model, host, power, reason, price, seen from pawl.device where $1 = '' or model = $1 order by model, id limit 10000`, model)
	return list, pg.Wrap(err, "cannot list devices")
}

// SetDevice adds a device or changes it, except for when it was seen.
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
