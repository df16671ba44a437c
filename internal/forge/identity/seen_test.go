package identity_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/forge/identity/identitytest"
)

func TestMemory(t *testing.T) {
	identitytest.TestTokenStore(t, func(_ *testing.T, now func() time.Time) identity.TokenStore { return newMemory(now, 100) })
}

// What is full refuses new tokens and keeps the old ones, and has room again when their
// time is over.
func TestMemoryIsBounded(t *testing.T) {
	now := noon
	m := newMemory(func() time.Time { return now }, 2)
	use := func(id string, d identity.Digest) error {
		_, _, err := m.Use(t.Context(), identity.Use{Issuer: "i", ID: id, Digest: d, Until: now.Add(time.Minute)})
		return err
	}
	for _, id := range []string{"a", "b"} {
		if err := use(id, identity.Digest{1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := use("c", identity.Digest{1}); !errors.Is(err, errFull) {
		t.Errorf("a third: %v, want errFull", err)
	}
	if err := use("a", identity.Digest{2}); !errors.Is(err, identity.ErrReplayed) {
		t.Errorf("a replay while full: %v, want ErrReplayed", err)
	}
	now = now.Add(time.Minute)
	if err := use("c", identity.Digest{1}); err != nil {
		t.Errorf("after a minute: %v", err)
	}
}

// Whatever is used when: as long as a token is valid, it stands for one digest.
func TestMemoryHoldsOneDigestPerToken(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := noon
		m := newMemory(func() time.Time { return now }, rapid.IntRange(1, 6).Draw(t, "most"))
		type held struct {
			digest  identity.Digest
			receipt string
			until   time.Time
		}
		model := map[string]held{}
		for n := range rapid.IntRange(1, 60).Draw(t, "uses") {
			now = now.Add(time.Duration(rapid.IntRange(0, 20).Draw(t, "seconds")) * time.Second)
			id := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "id")
			u := identity.Use{Issuer: "i", ID: id, Digest: identity.Digest{byte(rapid.IntRange(0, 1).Draw(t, "digest"))}, Receipt: fmt.Sprint(n), Until: now.Add(time.Minute)}
			receipt, fresh, err := m.Use(t.Context(), u)
			old, known := model[id]
			known = known && now.Before(old.until)
			switch {
			case known && old.digest != u.Digest:
				if !errors.Is(err, identity.ErrReplayed) {
					t.Fatalf("%s with another digest: %v", id, err)
				}
			case known:
				if err != nil || fresh || receipt != old.receipt {
					t.Fatalf("%s again: %q %v %v, want %q", id, receipt, fresh, err, old.receipt)
				}
			case err == nil:
				if !fresh || receipt != u.Receipt {
					t.Fatalf("%s for the first time: %q %v", id, receipt, fresh)
				}
				model[id] = held{u.Digest, u.Receipt, u.Until}
			case !errors.Is(err, errFull):
				t.Fatal(err)
			}
		}
	})
}
