package cli

import (
	"context"
	"errors"
)

// runBare is pawl without a command.
func runBare(ctx context.Context, g *globals) error {
	return errors.New("not yet")
}
