package fleetstore

import (
	"context"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/base/words"
	"github.com/goatnote-inc/pawl/internal/fleet/calibration"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// calibrationColumns are those of a calibration c that may be missing.
const calibrationColumns = `c.at, coalesce(c.driver, ''), coalesce(c.seed, 0), coalesce(c.rounds, 0), coalesce(c.noise, 0), coalesce(c.smallest, 0),
	coalesce(c.planted, 0), coalesce(c.false_alarm, false), coalesce(c.found, false), coalesce(c.error, '')`

// calibrationFields returns where to scan calibrationColumns to. at is nil if there is no calibration.
func calibrationFields(r *calibration.Record, at **time.Time) []any {
	return []any{at, &r.Driver, &r.Seed, &r.Rounds, &r.Noise, &r.Smallest, &r.Planted, &r.FalseAlarm, &r.Found, &r.Error}
}

func timeOf(at *time.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.UTC()
}

// Calibrated keeps a calibration of a device, and returns the states of the device before and after it by the rule. A
// device that was removed is [pg.ErrNotFound].
func (s *Store) Calibrated(ctx context.Context, device string, r calibration.Record) (before, after calibration.State, err error) {
	err = pgx.BeginFunc(ctx, s.db.Pool, func(tx pgx.Tx) error {
		var since *time.Time
		err := tx.QueryRow(ctx, `select quarantine, quarantined from pawl.device where id = $1 for update`, device).Scan(&before.Quarantine, &since)
		if err != nil {
			return pg.Found(err)
		}
		before.Since = timeOf(since)
		after = before
		var known bool
		err = tx.QueryRow(ctx, `select exists (select from pawl.calibration where device = $1 and seed = $2)`, device, r.Seed).Scan(&known)
		if err != nil || known { // an activity may run twice
			return err
		}
		earlier, err := measured(ctx, tx, device)
		if err != nil {
			return err
		}
		after = before.Next(earlier, r)
		_, err = tx.Exec(ctx, `insert into pawl.calibration (device, at, driver, seed, rounds, noise, smallest, planted, false_alarm, found, error)
			values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
			device, r.At, short(r.Driver), r.Seed, r.Rounds, r.Noise, r.Smallest, r.Planted, r.FalseAlarm, r.Found, cut(r.Error))
		if err != nil {
			return pg.Input(err)
		}
		since = nil
		if after.Quarantine != "" {
			since = &after.Since
		}
		_, err = tx.Exec(ctx, `update pawl.device set quarantine = $2, quarantined = $3, driver = case $4 when '' then driver else $4 end where id = $1`,
			device, after.Quarantine, since, short(r.Driver))
		return err
	})
	return before, after, pg.Wrap(err, "cannot keep a calibration of device %s", device)
}

// measured returns the latest calibrations of a device that have a result, oldest first.
func measured(ctx context.Context, tx pgx.Tx, device string) ([]calibration.Record, error) {
	list, err := pg.Collect(ctx, tx, func(row pgx.CollectableRow) (r calibration.Record, err error) {
		var at *time.Time
		err = row.Scan(calibrationFields(&r, &at)...)
		r.At = timeOf(at)
		return r, err
	}, `select `+calibrationColumns+` from pawl.calibration c where c.device = $1 and c.error = '' order by c.id desc limit $2`, device, calibration.Kept)
	slices.Reverse(list)
	return list, err
}

// ShownCalibration returns what clients and readers see of a calibration; nil if it has no result.
func ShownCalibration(r calibration.Record) *client.Calibration {
	if r.At.IsZero() || r.Error != "" {
		return nil
	}
	return &client.Calibration{
		At: r.At, Driver: words.SanitizeTo(r.Driver, 100), Rounds: r.Rounds, Noise: r.Noise, Smallest: r.Smallest, Planted: r.Planted, Found: r.Found, FalseAlarm: r.FalseAlarm,
	}
}
