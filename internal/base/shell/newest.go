package shell

import (
	"cmp"
	"io/fs"
	"slices"
	"strings"
)

// NewestMatch returns the file with the highest version of the first pattern with a match; empty if none matches. Numbers
// in names compare as numbers: cuda-12.4 is newer than cuda-9.2.
func NewestMatch(root fs.FS, patterns ...string) string {
	for _, pattern := range patterns {
		if found, _ := fs.Glob(root, pattern); len(found) > 0 { // fails only on a bad pattern
			return slices.MaxFunc(found, compareNames)
		}
	}
	return ""
}

// compareNames compares names part by part, digits as numbers.
func compareNames(a, b string) int {
	for a != "" && b != "" {
		x, y := leading(a), leading(b)
		a, b = a[len(x):], b[len(y):]
		if isDigit(x[0]) && isDigit(y[0]) {
			x, y = strings.TrimLeft(x, "0"), strings.TrimLeft(y, "0")
			if c := cmp.Compare(len(x), len(y)); c != 0 {
				return c
			}
		}
		if c := cmp.Compare(x, y); c != 0 {
			return c
		}
	}
	return cmp.Compare(a, b)
}

// leading returns the digits, or the other characters, that s starts with.
func leading(s string) string {
	end := strings.IndexFunc(s, func(r rune) bool { return isDigit(byte(r)) != isDigit(s[0]) })
	if end < 0 {
		return s
	}
	return s[:end]
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }
