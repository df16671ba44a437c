package identity

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrReplayed reports that a token was used before, for another report.
var ErrReplayed = errors.New("the token was already used for another report")

// ErrFull reports that no more tokens can be remembered now.
var ErrFull = errors.New("cannot record another token: too many are in use")

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

// MemoryStore remembers tokens in this process, for a single server without a database and for
// tests. It refuses a token rather than forgetting a valid one.
type MemoryStore struct {
	now  func() time.Time
	most int

	mu   sync.Mutex
	used map[tokenID]Use
}

type tokenID struct{ issuer, id string }

// NewMemory returns a Memory that holds a limited number of tokens, about 300 bytes each.
func NewMemory(now func() time.Time, most int) *MemoryStore {
	return &MemoryStore{now: now, most: most, used: map[tokenID]Use{}}
}

// Use implements [Seen].
func (m *MemoryStore) Use(_ context.Context, u Use) (receipt string, fresh bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	id := tokenID{u.Issuer, u.ID}
	if first, ok := m.used[id]; ok && now.Before(first.Until) {
		if first.Digest != u.Digest {
			return "", false, ErrReplayed
		}
		return first.Receipt, false, nil
	}
	if len(m.used) >= m.most {
		m.forget(now)
	}
	if len(m.used) >= m.most {
		return "", false, ErrFull
	}
	m.used[id] = u
	return u.Receipt, true, nil
}

// forget drops expired tokens.
func (m *MemoryStore) forget(now time.Time) {
	for id, u := range m.used {
		if !now.Before(u.Until) {
			delete(m.used, id)
		}
	}
}
