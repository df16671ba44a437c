package identitytest

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge/identity"
)

// TestTokenStore tests a store of used tokens. Each call of begin must return a new, empty one that
// uses the given clock.
func TestTokenStore(t *testing.T, begin func(t *testing.T, now func() time.Time) identity.TokenStore) {
	t.Helper()
	began := time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC)
	one := identity.Use{Issuer: "https://a.example", ID: "t1", Digest: identity.Digest{1}, Receipt: "r1", Until: began.Add(time.Minute)}

	t.Run("the same token and report get the same receipt", func(t *testing.T) {
		s := begin(t, func() time.Time { return began })
		want(t, s, one, "r1", true)
		again := one
		again.Receipt = "r2"
		want(t, s, again, "r1", false)
	})
	t.Run("another report is refused, and changes nothing", func(t *testing.T) {
		s := begin(t, func() time.Time { return began })
		want(t, s, one, "r1", true)
		other := one
		other.Digest, other.Receipt = identity.Digest{2}, "r2"
		if _, _, err := s.Use(t.Context(), other); !errors.Is(err, identity.ErrReplayed) {
			t.Fatalf("another digest: %v, want ErrReplayed", err)
		}
		want(t, s, one, "r1", false)
	})
	t.Run("an ID belongs to one issuer", func(t *testing.T) {
		s := begin(t, func() time.Time { return began })
		want(t, s, one, "r1", true)
		for n, issuer := range []string{"https://b.example", "https://a.examplet", strings.ToUpper(one.Issuer)} {
			u := one
			u.Issuer, u.Digest, u.Receipt = issuer, identity.Digest{9}, fmt.Sprint("other", n)
			if issuer == "https://a.examplet" {
				u.ID = "1" // issuer and ID concatenated give the same text
			}
			want(t, s, u, u.Receipt, true)
		}
	})
	t.Run("a use is kept until it expires", func(t *testing.T) {
		now := began
		s := begin(t, func() time.Time { return now })
		want(t, s, one, "r1", true)
		other := one
		other.Digest = identity.Digest{2}
		now = one.Until.Add(-time.Second)
		if _, _, err := s.Use(t.Context(), other); !errors.Is(err, identity.ErrReplayed) {
			t.Fatalf("a second before it expires: %v, want ErrReplayed", err)
		}
	})
	t.Run("one of many concurrent uses is the first", func(t *testing.T) {
		s := begin(t, func() time.Time { return began })
		var fresh atomic.Int64
		receipts := [16]string{}
		var all sync.WaitGroup
		for n := range receipts {
			all.Go(func() {
				u := one
				u.Receipt = fmt.Sprint("r", n)
				receipt, first, err := s.Use(t.Context(), u)
				if err != nil {
					t.Error(err)
				}
				if first {
					fresh.Add(1)
				}
				receipts[n] = receipt
			})
		}
		all.Wait()
		if fresh.Load() != 1 {
			t.Errorf("%d uses were the first", fresh.Load())
		}
		for _, r := range receipts {
			if r != receipts[0] {
				t.Errorf("receipts differ: %v", receipts)
				break
			}
		}
	})
}

func want(t *testing.T, s identity.TokenStore, u identity.Use, receipt string, fresh bool) {
	t.Helper()
	got, first, err := s.Use(t.Context(), u)
	if err != nil || got != receipt || first != fresh {
		t.Fatalf("use of %s by %s: %q, fresh %v, %v; want %q, fresh %v", u.ID, u.Issuer, got, first, err, receipt, fresh)
	}
}
