package store

import (
	"bytes"
	"context"
	"fmt"

	"github.com/goatnote-inc/pawl/internal/base/failpoint"
	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/server/store/db"
	"github.com/goatnote-inc/pawl/internal/server/store/pg"
)

// TokenLog records used tokens of CI jobs in the database, so that all servers on it refuse a replay.
type TokenLog struct{ s *Store }

// TokenUses returns the record of used tokens.
func (s *Store) TokenUses() TokenLog { return TokenLog{s} }

var _ identity.TokenStore = TokenLog{}

// Use implements [identity.TokenStore].
func (t TokenLog) Use(ctx context.Context, u identity.Use) (receipt string, fresh bool, err error) {
	q := db.New(t.s.db.Pool)
	receipt, err = q.UseToken(ctx, db.UseTokenParams{
		Issuer: u.Issuer, ID: u.ID, Digest: u.Digest[:], Receipt: u.Receipt, Until: u.Until, Now: t.s.db.Now(),
	})
	if err == nil {
		failpoint.At("token.used")
		if err := q.ForgetTokens(ctx, t.s.db.Now()); err != nil {
			return "", false, fmt.Errorf("cannot delete expired tokens: %w", err)
		}
		return receipt, true, nil
	}
	if !pg.None(err) {
		return "", false, fmt.Errorf("cannot record a token: %w", pg.Input(err))
	}
	first, err := q.TokenUse(ctx, db.TokenUseParams{Issuer: u.Issuer, ID: u.ID})
	if err != nil {
		return "", false, fmt.Errorf("cannot read the first use of a token: %w", err)
	}
	if !bytes.Equal(first.Digest, u.Digest[:]) {
		return "", false, identity.ErrReplayed
	}
	return first.Receipt, false, nil
}
