package identity_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge/identity"
)

var errFull = errors.New("cannot record another token: too many are in use")

// memoryStore remembers tokens in this process. It refuses a token rather than forgetting a valid one.
type memoryStore struct {
	now  func() time.Time
	most int

	mu   sync.Mutex
	used map[tokenID]identity.Use
}

type tokenID struct{ issuer, id string }

// newMemory returns a store that holds a limited number of tokens, about 300 bytes each.
func newMemory(now func() time.Time, most int) *memoryStore {
	return &memoryStore{now: now, most: most, used: map[tokenID]identity.Use{}}
}

func (m *memoryStore) Use(_ context.Context, u identity.Use) (receipt string, fresh bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	id := tokenID{u.Issuer, u.ID}
	if first, ok := m.used[id]; ok && now.Before(first.Until) {
		if first.Digest != u.Digest {
			return "", false, identity.ErrReplayed
		}
		return first.Receipt, false, nil
	}
	if len(m.used) >= m.most {
		m.forget(now)
	}
	if len(m.used) >= m.most {
		return "", false, errFull
	}
	m.used[id] = u
	return u.Receipt, true, nil
}

// forget drops expired tokens.
func (m *memoryStore) forget(now time.Time) {
	for id, u := range m.used {
		if !now.Before(u.Until) {
			delete(m.used, id)
		}
	}
}
