package pg

import (
	"context"
	"fmt"
)

// Room returns how many connections the database accepts from users that are not superusers.
func (d *DB) Room(ctx context.Context) (int, error) {
	var n int
	err := d.Pool.QueryRow(ctx, `select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
		- coalesce(current_setting('reserved_connections', true)::int, 0)`).Scan(&n)
	if err != nil {
		return 0, fmt.Errorf("cannot read how many connections the database accepts: %w", err)
	}
	return n, nil
}
