package client

import (
	"crypto/sha256"
	"encoding/hex"
)

// Key is the idempotency key of a report: one run, one report.
func Key(r *Report) string {
	sum := sha256.Sum256([]byte(SchemaReport + "\n" + r.Run))
	return hex.EncodeToString(sum[:])
}
