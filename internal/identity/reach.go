package identity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Reach asks an issuer for its keys, as the first token would, and says why they cannot be
// had: for whoever sets a server up and does not want to wait for that token.
func Reach(ctx context.Context, name string, client *http.Client, now func() time.Time) error {
	i, err := newIssuer(name, client, now)
	if err != nil {
		return err
	}
	keys, err := i.remote(ctx)
	if err != nil {
		return err
	}
	// The set has no word for "fetch": it does so for any signature that it does not know.
	told := &tellingKeys{from: keys}
	const unsigned = "eyJhbGciOiJSUzI1NiIsImtpZCI6InByb2JlIn0.e30.AA"
	_, _ = told.VerifySignature(ctx, unsigned)
	if u, ok := errors.AsType[*unreachableError](told.err); ok {
		return fmt.Errorf("%w: %w", ErrUnavailable, u)
	}
	return ctx.Err()
}
