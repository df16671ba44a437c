package profile

import (
	"errors"
	"fmt"
	"io"
)

// Limits on profiles, which may come from elsewhere and from programs under test. Larger ones are
// rejected; a report on 200 kernels with every metric is 2 MB.
const (
	maxSize     = 64 << 20
	maxColumns  = 20_000
	maxLaunches = 100_000
	maxMetrics  = 2_000_000 // over all launches
	maxRules    = 100_000
	maxCell     = 64 << 10
	maxNotes    = 1000
)

// readAll reads r and fails if it is too large.
func readAll(r io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxSize+1))
	if err != nil {
		return nil, fmt.Errorf("cannot read profile: %w", err)
	}
	if len(data) > maxSize {
		return nil, fmt.Errorf("cannot read profile: more than %d MB: profile fewer launches (ncu -c), or fewer sections", maxSize>>20)
	}
	return data, nil
}

// count is the size of a profile so far.
type count struct{ launches, metrics, rules int }

func (c *count) check() error {
	switch {
	case c.launches > maxLaunches:
		return fmt.Errorf("more than %d launches: profile fewer (ncu -c)", maxLaunches)
	case c.metrics > maxMetrics:
		return fmt.Errorf("more than %d values: profile fewer launches (ncu -c), or fewer sections", maxMetrics)
	case c.rules > maxRules:
		return fmt.Errorf("more than %d rule results: profile fewer launches (ncu -c)", maxRules)
	}
	return nil
}

var errEmpty = errors.New("it has no launch: did the tool find the kernel?")
