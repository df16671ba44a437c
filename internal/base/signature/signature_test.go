package signature

import (
	"strings"
	"testing"
)

// The example of GitHub's documentation on validating webhook deliveries.
func TestValid(t *testing.T) {
	const secret, body, good = "It's a Secret to Everybody", "Hello, World!", "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"
	for name, c := range map[string]struct {
		secret, body, header string
		want                 bool
	}{
		"as documented":   {secret, body, good, true},
		"in capitals":     {secret, body, "sha256=" + strings.ToUpper(good[7:]), true},
		"another body":    {secret, body + " ", good, false},
		"another secret":  {secret + "!", body, good, false},
		"no secret":       {"", body, "sha256=", false},
		"no header":       {secret, body, "", false},
		"SHA-1":           {secret, body, "sha1=" + good[7:], false},
		"half a sum":      {secret, body, good[:40], false},
		"not hexadecimal": {secret, body, "sha256=zz", false},
	} {
		if got := Valid([]byte(c.secret), []byte(c.body), c.header); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
