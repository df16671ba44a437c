// Package signature checks the signatures of webhooks. It must not know what a webhook says.
package signature

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// Valid reports whether a header such as "sha256=6a3f..." is the HMAC of a body with a secret. Only SHA-256 is accepted, and
// an empty secret signs nothing.
func Valid(secret, body []byte, header string) bool {
	sum, found := strings.CutPrefix(header, "sha256=")
	claimed, err := hex.DecodeString(sum)
	if !found || err != nil || len(secret) == 0 {
		return false
	}
	mac := hmac.New(sha256.New, secret)
	mac.Write(body)
	return hmac.Equal(mac.Sum(nil), claimed)
}
