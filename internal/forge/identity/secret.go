package identity

import (
	"fmt"
	"log/slog"
)

// Token is a secret. It prints, logs and encodes as a placeholder; only Reveal returns the
// value. The value is in a closure, because fmt reads struct fields and calls no methods on
// unexported ones.
type Token struct{ reveal func() string }

const redacted = "[secret]"

// NewToken wraps a secret value.
func NewToken(value string) Token {
	if value == "" {
		return Token{}
	}
	return Token{func() string { return value }}
}

// Reveal returns the value. Use it only for the header of a request.
func (t Token) Reveal() string {
	if t.reveal == nil {
		return ""
	}
	return t.reveal()
}

// IsZero reports whether there is no token.
func (t Token) IsZero() bool { return t.reveal == nil }

func (t Token) String() string { return redacted }

// GoString keeps the value out of %#v.
func (t Token) GoString() string { return redacted }

// Format keeps the value out of every verb, including those that print struct fields.
func (t Token) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(redacted)) }

// LogValue keeps the value out of structured logs.
func (t Token) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText keeps the value out of JSON and other text encodings.
func (t Token) MarshalText() ([]byte, error) { return []byte(redacted), nil }
