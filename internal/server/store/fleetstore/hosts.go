package fleetstore

import (
	"context"

	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// stopping is the reason for which the devices of a host are closed before it is stopped.
const stopping = "its host is being stopped"

// HostStopping closes the devices of a host, which is about to be stopped. No gate gets them any more.
func (s *Store) HostStopping(ctx context.Context, host string) error {
	_, err := s.db.Pool.Exec(ctx, `update pawl.device set power = 'closed', reason = $2 where host = $1 and power <> 'closed'`, host, stopping)
	return pg.Wrap(err, "cannot close the devices of host %s", host)
}

// HostStays opens the devices that HostStopping closed: they can be used while their agent is heard.
func (s *Store) HostStays(ctx context.Context, host string) error {
	_, err := s.db.Pool.Exec(ctx, `update pawl.device set power = 'asleep', reason = '' where host = $1 and power = 'closed' and reason = $2`, host, stopping)
	return pg.Wrap(err, "cannot open the devices of host %s", host)
}

// HostOff records that a host is off: its devices are asleep until their agent is heard again. Those that an operator closed stay closed.
func (s *Store) HostOff(ctx context.Context, host string) error {
	_, err := s.db.Pool.Exec(ctx, `update pawl.device set power = 'asleep', reason = '', seen = null
		where host = $1 and (power = 'ready' or power = 'asleep' and seen is not null or power = 'closed' and reason = $2)`, host, stopping)
	return pg.Wrap(err, "cannot let the devices of host %s sleep", host)
}

// IsStopping reports whether a device is closed because its host is being stopped.
func IsStopping(d Device) bool { return d.Reason == stopping }
