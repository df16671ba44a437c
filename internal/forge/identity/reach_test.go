package identity_test

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge/identity"
	"github.com/goatnote-inc/pawl/internal/forge/identity/identitytest"
)

// Reach says whether the first token could be judged.
func TestReach(t *testing.T) {
	i := identitytest.NewIssuer(t, "")
	if err := identity.CheckIssuer(t.Context(), i.URL, i.Client, time.Now); err != nil {
		t.Errorf("an issuer that answers: %v", err)
	}
	if i.Asked.Load() != 2 {
		t.Errorf("%d of its documents were read, want two: what it says of itself, and its keys", i.Asked.Load())
	}
	i.MoveKeys("https://elsewhere.example.com/keys")
	if err := identity.CheckIssuer(t.Context(), i.URL, i.Client, time.Now); !errors.Is(err, identity.ErrUnavailable) {
		t.Errorf("keys on another host: %v", err)
	}
	i.Broken.Store(true)
	if err := identity.CheckIssuer(t.Context(), i.URL, i.Client, time.Now); !errors.Is(err, identity.ErrUnavailable) {
		t.Errorf("an issuer that is broken: %v", err)
	}
	if err := identity.CheckIssuer(t.Context(), "http://plain.example.com", http.DefaultClient, time.Now); err == nil || errors.Is(err, identity.ErrUnavailable) {
		t.Errorf("an issuer without TLS: %v", err)
	}
}
