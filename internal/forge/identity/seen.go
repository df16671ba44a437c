package identity

import (
	"context"
	"errors"
	"time"
)

// ErrReplayed reports that a token was used before, for another report.
var ErrReplayed = errors.New("the token was already used for another report")

// TokenStore remembers used tokens while they are valid. Package identitytest has tests for every
// implementation.
type TokenStore interface {
	// Use records the first use of a token. Later uses with the same digest return the first
	// receipt; with another digest they return ErrReplayed.
	Use(ctx context.Context, u Use) (receipt string, fresh bool, err error)
}

// Use is one use of a token.
type Use struct {
	Issuer, ID string
	Digest     Digest
	Receipt    string
	Until      time.Time // after this the token has expired and may be forgotten
}
