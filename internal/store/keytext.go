package store

import (
	"hash/crc32"
	"math/big"
	"strconv"
	"strings"
)

// A key is pawl_PROJECT_SECRET: the project's number in base 36, then 32 random bytes in
// base 62 with a checksum. The prefix lets scanners of secrets find it; the checksum lets
// them, and the server, tell a key from what only looks like one without asking anybody.
const (
	keyBytes     = 32
	secretLength = 43 // 62^43 > 2^256
	sumLength    = 6  // 62^6 > 2^32
	prefixLength = 8  // of the secret, kept in the clear to tell keys apart
)

const digits62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func writeKey(project int64, secret [keyBytes]byte) string {
	text := "pawl_" + strconv.FormatInt(project, 36) + "_" + base62(new(big.Int).SetBytes(secret[:]), secretLength)
	return text + sumOf(text)
}

// readKey gives the project of a text that has the form of a key.
func readKey(text string) (project int64, ok bool) {
	rest, ok := strings.CutPrefix(text, "pawl_")
	if !ok {
		return 0, false
	}
	number, secret, ok := strings.Cut(rest, "_")
	if !ok || len(secret) != secretLength+sumLength || strings.Trim(secret, digits62) != "" {
		return 0, false
	}
	project, err := strconv.ParseInt(number, 36, 64)
	if err != nil || project < 1 || strconv.FormatInt(project, 36) != number {
		return 0, false
	}
	body := text[:len(text)-sumLength]
	return project, sumOf(body) == text[len(body):]
}

// prefixOf is how people tell keys apart.
func prefixOf(text string) string {
	return text[:strings.LastIndexByte(text, '_')+1+prefixLength]
}

func sumOf(text string) string {
	return base62(big.NewInt(int64(crc32.ChecksumIEEE([]byte(text)))), sumLength)
}

func base62(n *big.Int, length int) string {
	out := make([]byte, length)
	base, digit := big.NewInt(int64(len(digits62))), new(big.Int)
	for i := length - 1; i >= 0; i-- {
		n.DivMod(n, base, digit)
		out[i] = digits62[digit.Int64()]
	}
	return string(out)
}
