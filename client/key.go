package client

import (
	"crypto/sha256"
	"encoding/hex"
)

// Key returns the idempotency key of a report. There is one report per run.
func Key(r *Report) string {
	sum := sha256.Sum256([]byte(SchemaReport + "\n" + r.Run))
	return hex.EncodeToString(sum[:])
}
