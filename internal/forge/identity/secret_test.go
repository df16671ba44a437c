package identity_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/forge/identity"
)

const canary = "canary-4f1c9e"

// A token gets into what people read by no way but the one that is named for it.
func TestTokensAreNotShown(t *testing.T) {
	token := identity.NewToken(canary)
	holder := struct {
		T  identity.Token
		P  *identity.Token
		M  map[string]identity.Token
		in identity.Token // fmt reads unexported fields
	}{token, &token, map[string]identity.Token{"a": token}, token}

	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%T", "%t", "%10.3s", "%c", "%U"} {
		fmt.Fprintf(&out, verb+"\n", token)
		fmt.Fprintf(&out, verb+"\n", &token)
		fmt.Fprintf(&out, verb+"\n", holder)
		fmt.Fprintf(&out, verb+"\n", []identity.Token{token})
		fmt.Fprintf(&out, verb+"\n", fmt.Errorf("with %w: %v", errors.New("x"), token))
	}
	fmt.Fprintln(&out, token, token.String(), token.GoString())
	log.New(&out, "", 0).Print(token, holder)
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(handler).Info("x", "token", token, "holder", holder, "pointer", &token, slog.Group("g", "t", token))
	}
	for _, v := range []any{token, &token, holder} {
		text, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(text)
	}
	hex := fmt.Sprintf("%x", canary)
	if got := out.String(); strings.Contains(got, canary) || strings.Contains(strings.ToLower(got), hex) || !strings.Contains(got, "[secret]") {
		t.Errorf("the token is in what was printed:\n%s", got)
	}
	if token.Reveal() != canary || token.IsZero() || !(identity.Token{}).IsZero() {
		t.Error("the token is lost")
	}
}
