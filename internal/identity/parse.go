package identity

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/goatnote-inc/pawl/internal/lazyregexp"
)

// Bounds of a token. GitHub's are about 2 KB; repositories may add properties of their own.
const (
	maxToken  = 16 << 10
	maxDepth  = 8
	maxClaims = 200
	maxClaim  = 2 << 10
)

// parsed is a token that has the right shape. Nothing in it has been verified.
type parsed struct {
	raw     string
	keyID   string
	payload members
}

// members are those of a JSON object, each undecoded.
type members map[string]jsontext.Value

// keyID has no path, no scheme and no quotes in it: it is compared, and never looked up.
var keyIDForm = lazyregexp.New(`^[A-Za-z0-9_-]{1,128}$`)

// foreign are header parameters that bring keys along or change what was signed.
var foreign = []string{"jku", "jwk", "x5u", "x5c", "crit", "b64", "zip", "enc", "epk", "p2c"}

// parse looks at everything that can be known of a token without keys and clocks. It is
// stricter than the libraries behind it, so that they are given nothing odd to agree or
// disagree about.
func parse(raw string) (*parsed, error) {
	if len(raw) > maxToken {
		return nil, refuse(TooLarge, "it has %d bytes, more than %d", len(raw), maxToken)
	}
	parts := strings.Split(raw, ".")
	if len(parts) != 3 {
		return nil, refuse(Malformed, "it has %d parts, a signed token has 3", len(parts))
	}
	var plain [3][]byte
	for i, part := range parts {
		// Strict: unused bits are zero, so that one token has one spelling. Go's decoder
		// skips line ends, which the alphabet of a token does not have.
		b, err := base64.RawURLEncoding.Strict().DecodeString(part)
		if err != nil || len(b) == 0 || strings.ContainsAny(part, "\r\n") {
			if i == 2 && part == "" {
				break // said below, by its algorithm
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
		return nil, refuse(BadClaims, "the claims: %v", err)
	}
	return &parsed{raw: raw, keyID: keyID, payload: payload}, nil
}

func header(text []byte) (keyID string, err error) {
	h, err := object(text)
	if err != nil {
		return "", refuse(BadHeader, "the header: %v", err)
	}
	for _, name := range foreign {
		if _, ok := h[name]; ok {
			return "", refuse(BadHeader, "it has the parameter %q: keys come from the issuer alone", name)
		}
	}
	// Pinned before anything is done with a key: an algorithm that the token chooses is a
	// lock that the burglar brings.
	if alg, ok := h.text("alg"); !ok || alg != "RS256" {
		return "", refuse(BadAlgorithm, "it is signed with %s, only RS256 is taken", shown(string(h["alg"])))
	}
	if typ, there := h["typ"]; there && string(typ) != `"JWT"` {
		return "", refuse(BadHeader, "its type is %s, not JWT", shown(string(typ)))
	}
	keyID, ok := h.text("kid")
	if !ok || !keyIDForm.MatchString(keyID) {
		return "", refuse(BadHeader, "its key is called %s: want letters, digits, '-' and '_'", shown(string(h["kid"])))
	}
	return keyID, nil
}

// object reads one JSON object and nothing behind it. Names that are there twice are
// refused, also when only their case differs: readers disagree about which one counts.
func object(text []byte) (members, error) {
	d := jsontext.NewDecoder(bytes.NewReader(text))
	if start, err := d.ReadToken(); err != nil || start.Kind() != '{' {
		return nil, fmt.Errorf("it is no JSON object")
	}
	m, folded := members{}, map[string]bool{}
	for d.PeekKind() != '}' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, clean(err)
		}
		key := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil, clean(err)
		}
		switch fold := strings.ToLower(key); {
		case folded[fold]:
			return nil, fmt.Errorf("%s is there twice", shown(key))
		case len(m) == maxClaims:
			return nil, fmt.Errorf("it has more than %d members", maxClaims)
		case len(value) > maxClaim:
			return nil, fmt.Errorf("%s has %d bytes, more than %d", shown(key), len(value), maxClaim)
		case depth(value) > maxDepth:
			return nil, fmt.Errorf("%s is nested deeper than %d", shown(key), maxDepth)
		default:
			folded[fold] = true
			m[key] = value.Clone()
		}
	}
	if _, err := d.ReadToken(); err != nil { // the closing brace
		return nil, clean(err)
	}
	if len(bytes.TrimSpace(text[d.InputOffset():])) != 0 {
		return nil, fmt.Errorf("something follows it")
	}
	return m, nil
}

// clean is a decoder's error without what it quotes of the input.
func clean(err error) error {
	text := err.Error()
	if strings.Contains(text, "duplicate") {
		return fmt.Errorf("a name is there twice")
	}
	return fmt.Errorf("it is not valid JSON")
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

// text is a member that is a string.
func (m members) text(name string) (string, bool) {
	v, ok := m[name]
	if !ok || v.Kind() != '"' {
		return "", false
	}
	b, err := jsontext.AppendUnquote(nil, v)
	return string(b), err == nil
}
