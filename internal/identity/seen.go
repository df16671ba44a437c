package identity

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrReplayed says that a token was used before, for another report.
var ErrReplayed = errors.New("the token was used for another report")

// ErrFull says that no more tokens can be remembered now.
var ErrFull = errors.New("too many tokens in use to remember another")

// Seen remembers tokens as long as they are valid. Package identitytest has what every
// implementation must do.
type Seen interface {
	// Use records the first use of a token. Later ones for the same digest get the
	// receipt of the first; for another digest ErrReplayed.
	Use(ctx context.Context, u Use) (receipt string, fresh bool, err error)
}

// Use is one use of a token.
type Use struct {
	Issuer, ID string
	Digest     Digest
	Receipt    string
	Until      time.Time // after that the token is refused for its age, and may be forgotten
}

// Memory remembers tokens in this process: for one server without a database, and for
// tests. It rather refuses a token than forget one that is still valid.
type Memory struct {
	now  func() time.Time
	most int

	mu   sync.Mutex
	used map[tokenID]Use
}

type tokenID struct{ issuer, id string }

// NewMemory remembers up to most tokens at a time, about 300 bytes each.
func NewMemory(now func() time.Time, most int) *Memory {
	return &Memory{now: now, most: most, used: map[tokenID]Use{}}
}

// Use implements [Seen].
func (m *Memory) Use(_ context.Context, u Use) (receipt string, fresh bool, err error) {
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

// forget drops what is over.
func (m *Memory) forget(now time.Time) {
	for id, u := range m.used {
		if !now.Before(u.Until) {
			delete(m.used, id)
		}
	}
}
