package store

import (
	"fmt"
	"slices"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// lanes lists the lanes in the order of their numbers in the database.
var lanes = []client.Lane{client.Main, client.Branch, client.Fork}

func laneNumber(lane client.Lane) (int16, error) {
	n := slices.Index(lanes, lane)
	if n < 0 {
		return 0, fmt.Errorf("unknown lane %q (known: main, branch, fork)", lane)
	}
	return int16(n), nil
}

func laneName(n int16) client.Lane {
	if n < 0 || int(n) >= len(lanes) {
		return client.Fork // unknown lanes are not trusted
	}
	return lanes[n]
}

// whereLane restricts a list to a lane; an empty one means any.
func whereLane(c *pg.Conditions, format string, lane client.Lane) error {
	if lane == "" {
		return nil
	}
	n, err := laneNumber(lane)
	c.Add(format, n)
	return err
}
