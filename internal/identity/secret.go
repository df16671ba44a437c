package identity

import (
	"fmt"
	"log/slog"
)

// Token is a secret. However it is printed, logged or encoded, it says only that it is
// one: whoever needs the value must ask for it by name. The value is behind a function,
// because fmt takes structs apart and calls no method of a field that is not exported.
type Token struct{ reveal func() string }

const redacted = "[secret]"

// NewToken keeps a value from being shown.
func NewToken(value string) Token {
	if value == "" {
		return Token{}
	}
	return Token{func() string { return value }}
}

// Reveal is the value, for the header of a request and nothing else.
func (t Token) Reveal() string {
	if t.reveal == nil {
		return ""
	}
	return t.reveal()
}

// IsZero tells whether there is no token.
func (t Token) IsZero() bool { return t.reveal == nil }

func (t Token) String() string { return redacted }

// GoString keeps the value out of %#v.
func (t Token) GoString() string { return redacted }

// Format keeps the value out of every verb, also those that take a value apart.
func (t Token) Format(s fmt.State, _ rune) { _, _ = s.Write([]byte(redacted)) }

// LogValue keeps the value out of structured logs.
func (t Token) LogValue() slog.Value { return slog.StringValue(redacted) }

// MarshalText keeps the value out of JSON, and of whatever else encodes text.
func (t Token) MarshalText() ([]byte, error) { return []byte(redacted), nil }
