package identity

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// Limits of a token. GitHub's are about 2 KB; repositories may add custom properties.
const (
	maxToken  = 16 << 10
	maxDepth  = 8
	maxClaims = 200
	maxClaim  = 2 << 10
)

// parsed is a well-formed token. Nothing in it has been verified.
type parsed struct {
	raw     string
	keyID   string
	payload members
}

// members maps the names of a JSON object to undecoded values.
type members map[string]jsontext.Value

// keyIDForm excludes paths, schemes and quotes. A key ID is only compared, never used to
// look anything up.
var keyIDForm = lazyregexp.New(`^[A-Za-z0-9_-]{1,128}$`)

// forbiddenHeaders lists header parameters that supply keys or change what was signed.
var forbiddenHeaders = []string{"jku", "jwk", "x5u", "x5c", "crit", "b64", "zip", "enc", "epk", "p2c"}

// parse checks everything that needs neither keys nor clocks. It is stricter than the
// libraries behind it, so that they never see ambiguous input.
func parse(raw string) (*parsed, error) {
	if len(raw) > maxToken {
		return nil, refuse(TooLarge, "it has %d bytes, the max is %d", len(raw), maxToken)
	}
	parts := strings.Split(raw, ".")
	if len(parts) != 3 {
		return nil, refuse(Malformed, "it has %d parts, but a signed token has 3", len(parts))
	}
	var plain [3][]byte
	for i, part := range parts {
		// Strict: unused bits must be zero, so that a token has only one encoding. Go's decoder
		// skips line breaks, which are not allowed in a token.
		b, err := base64.RawURLEncoding.Strict().DecodeString(part)
		if err != nil || len(b) == 0 || strings.ContainsAny(part, "\r\n") {
			if i == 2 && part == "" {
				break // rejected below, by its algorithm
			}
			return nil, refuse(Malformed, "part %d is not base64url", i+1)
		}
		plain[i] = b
	}
	keyID, err := header(plain[0])
	if err != nil {
		return nil, err
	}
	if len(plain[2]) == 0 {
		return nil, refuse(Malformed, "it has no signature")
	}
	payload, err := object(plain[1])
	if err != nil {
		return nil, refuse(BadClaims, "invalid claims: %v", err)
	}
	return &parsed{raw: raw, keyID: keyID, payload: payload}, nil
}

func header(text []byte) (keyID string, err error) {
	h, err := object(text)
	if err != nil {
		return "", refuse(BadHeader, "invalid header: %v", err)
	}
	for _, name := range forbiddenHeaders {
		if _, ok := h[name]; ok {
			return "", refuse(BadHeader, "the header parameter %q is not allowed: keys come only from the issuer", name)
		}
	}
	// Check the algorithm before using any key: a token must not choose how it is verified.
	if alg, ok := h.text("alg"); !ok || alg != "RS256" {
		return "", refuse(BadAlgorithm, "it is signed with %s, only RS256 is accepted", quoteClaim(string(h["alg"])))
	}
	if typ, there := h["typ"]; there && string(typ) != `"JWT"` {
		return "", refuse(BadHeader, "its type is %s, not JWT", quoteClaim(string(typ)))
	}
	keyID, ok := h.text("kid")
	if !ok || !keyIDForm.MatchString(keyID) {
		return "", refuse(BadHeader, "its key ID is %s: expected letters, digits, '-' and '_'", quoteClaim(string(h["kid"])))
	}
	return keyID, nil
}

// object parses one JSON object with nothing after it. It rejects duplicate names, even if
// only their case differs, because readers disagree about which one counts.
func object(text []byte) (members, error) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if start, err := d.ReadToken(); err != nil || start.Kind() != '{' {
		return nil, fmt.Errorf("not a JSON object")
	}
	m, folded := members{}, map[string]bool{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, redactError(err)
		}
		key := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil, redactError(err)
		}
		switch fold := strings.ToLower(key); {
		case folded[fold]:
			return nil, fmt.Errorf("%s occurs twice", quoteClaim(key))
		case len(m) == maxClaims:
			return nil, fmt.Errorf("more than %d members", maxClaims)
		case len(value) > maxClaim:
			return nil, fmt.Errorf("%s has %d bytes, the max is %d", quoteClaim(key), len(value), maxClaim)
		case depth(value) > maxDepth:
			return nil, fmt.Errorf("%s is nested more than %d levels deep", quoteClaim(key), maxDepth)
		default:
			folded[fold] = true
			m[key] = value.Clone()
		}
	}
	if _, err := d.ReadToken(); err != nil { // the closing brace
		return nil, redactError(err)
	}
	if len(bytes.TrimSpace(text[d.InputOffset():])) != 0 {
		return nil, fmt.Errorf("data follows the JSON object")
	}
	return m, nil
}

// redactError returns a decoder's error without the input it quotes.
func redactError(err error) error {
	text := err.Error()
	if strings.Contains(text, "duplicate") {
		return fmt.Errorf("a name occurs twice")
	}
	return fmt.Errorf("not valid JSON")
}

func depth(v jsontext.Value) int {
	deepest := 0
	for d := jsontext.NewDecoder(bytes.NewReader(v)); ; {
		if _, err := d.ReadToken(); err != nil {
			return deepest
		}
		deepest = max(deepest, d.StackDepth())
	}
}

// text returns a member that is a string.
func (m members) text(name string) (string, bool) {
	v, ok := m[name]
	if !ok || v.Kind() != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, v)
	return string(b), err == nil
}
