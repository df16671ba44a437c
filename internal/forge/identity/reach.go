package identity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// CheckIssuer fetches the keys of an issuer, as the first token would, and returns why that
// fails. It is for checking a server's setup before that token arrives.
func CheckIssuer(ctx context.Context, name string, client *http.Client, now func() time.Time) error {
	i, err := newIssuer(name, client, now)
	if err != nil {
		return err
	}
	keys, err := i.remote(ctx)
	if err != nil {
		return err
	}
	// The key set has no fetch method, but it fetches keys for any signature it does not know.
	told := &recordingKeySet{from: keys}
	const unsigned = "eyJhbGciOiJSUzI1NiIsImtpZCI6InByb2JlIn0.e30.AA"
	_, _ = told.VerifySignature(ctx, unsigned)
	if u, ok := errors.AsType[*unreachableError](told.err); ok {
		return fmt.Errorf("%w: %w", ErrUnavailable, u)
	}
	return ctx.Err()
}
