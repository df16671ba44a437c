package store

import (
	"hash/crc32"
	"math/big"
	"strconv"
	"strings"
)

// A key is pawl_PROJECT_SECRET: the project's number in base 36, then 32 random bytes in base 62
// with a checksum. The prefix lets secret scanners find it. The checksum lets them and the server
// recognize a key without a lookup. The text of a public link has the same form and another prefix.
const (
	keyStart  = "pawl_"
	linkStart = "link_"

	keyBytes     = 32
	secretLength = 43 // 62^43 > 2^256
	sumLength    = 6  // 62^6 > 2^32
	prefixLength = 8  // first characters of the secret, stored unencrypted to identify the key
)

const digits62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

func writeKey(start string, project int64, secret [keyBytes]byte) string {
	text := start + strconv.FormatInt(project, 36) + "_" + base62(new(big.Int).SetBytes(secret[:]), secretLength)
	return text + sumOf(text)
}

// readKey returns the project of a text that has the form of a key with this start.
func readKey(start, text string) (project int64, ok bool) {
	rest, ok := strings.CutPrefix(text, start)
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

// prefixOf returns the part of a key that identifies it to people.
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
