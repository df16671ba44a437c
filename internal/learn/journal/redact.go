package journal

import (
	"math"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// hidden replaces a secret.
const hidden = "[secret]"

// forms match secrets by their form alone.
var forms = lazyregexp.New(strings.Join([]string{
	`gh[pousr]_[A-Za-z0-9]{16,}`,
	`github_pat_[A-Za-z0-9_]{16,}`,
	`glpat-[A-Za-z0-9_-]{16,}`,
	`pawl_[A-Za-z0-9_-]{16,}`,
	`\b(?:AKIA|ASIA)[A-Z0-9]{12,}`,
	`\bsk-[A-Za-z0-9_-]{16,}`,
	`\bsk_(?:live|test)_[A-Za-z0-9]{10,}`,
	`\bhf_[A-Za-z0-9]{16,}`,
	`\bnvapi-[A-Za-z0-9_-]{16,}`,
	`\bAIza[A-Za-z0-9_-]{30,}`,
	`\bya29\.[A-Za-z0-9_-]{16,}`,
	`\bnpm_[A-Za-z0-9]{20,}`,
	`\bpypi-[A-Za-z0-9_-]{16,}`,
	`\bdop_v1_[a-f0-9]{32,}`,
	`\bxox[a-z]-[A-Za-z0-9-]{8,}`,
	`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*`,
	`(?s)-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\z)`,
}, "|"))

var (
	// login is the user and password of a URL.
	login = lazyregexp.New(`([A-Za-z][A-Za-z0-9+.-]*://)[^/\s:@"']*:[^/\s@"']+@`)
	// header is the value of Authorization, Cookie and the like.
	header = lazyregexp.New(`(?i)\b((?:proxy-)?authorization|(?:set-)?cookie|x-api-key|x-auth-token)(["']?\s*[:=]\s*["']?)[^\r\n"']+`)
	bearer = lazyregexp.New(`(?i)\b(bearer|basic)(\s+)[A-Za-z0-9._~+/=-]{8,}`)
	// named is a value after a telling name; weak is one after a name that can be harmless, hidden
	// only if it looks random.
	//nolint:gosec // a pattern of names, not a secret
	secretName = `[A-Za-z0-9_.-]*(?:token|password|passwd|passphrase|secret|api[_-]?key|access[_-]?key|private[_-]?key|credential)[A-Za-z0-9_.-]*`
	named      = lazyregexp.New(`(?i)(` + secretName + `["']?\s*(?:=|:)\s*)("[^"]*"|'[^']*'|[^\s"',;&)}\]]+)`)
	weak       = lazyregexp.New(`(?i)([A-Za-z0-9_.-]*(?:key|auth|pass|pwd|pw|sig|signature|session|cert)["']?\s*[=:]\s*["']?)([A-Za-z0-9+/_=-]{16,})`)
	// flag is an option whose value is the next word.
	flag = lazyregexp.New(`(?i)^--?(?:` + secretName + `|auth|pass|pwd)$`)
	word = lazyregexp.New(`(?i)(--?` + secretName + `\s+)([^\s-]\S*)`)
)

// Redact hides what looks like a secret, and rather too much: a journal is shared and kept.
func Redact(s string) string {
	s = forms.ReplaceAllString(s, hidden)
	s = login.ReplaceAllString(s, "${1}"+hidden+"@")
	s = header.ReplaceAllString(s, "${1}${2}"+hidden)
	s = bearer.ReplaceAllString(s, "${1}${2}"+hidden)
	s = named.ReplaceAllStringFunc(s, func(m string) string {
		p := named.FindStringSubmatch(m)
		if harmless(strings.Trim(p[2], `"'`)) {
			return m
		}
		return p[1] + hidden
	})
	s = word.ReplaceAllString(s, "${1}"+hidden)
	return weak.ReplaceAllStringFunc(s, func(m string) string {
		if p := weak.FindStringSubmatch(m); byChance(p[2]) {
			return p[1] + hidden
		}
		return m
	})
}

// harmless reports whether a value is a short number, a variable or a word that says that there is
// none: tokens=4096 and key: 12 are what kernels are about.
func harmless(value string) bool {
	number := value != ""
	for _, r := range value {
		number = number && (r >= '0' && r <= '9' || r == '.')
	}
	return number && len(value) < 9 || value == hidden || strings.HasPrefix(value, "$") ||
		strings.EqualFold(value, "true") || strings.EqualFold(value, "false") || strings.EqualFold(value, "none") || value == ""
}

// byChance reports whether a word looks random: many different letters and digits.
func byChance(s string) bool {
	var count [256]int
	digits, letters := 0, 0
	for i := range len(s) {
		count[s[i]]++
		switch c := s[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			letters++
		}
	}
	bits := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits >= 3 && digits > 0 && letters > 0
}

// hideFlagValues hides the words after flags that take a secret: --token X.
func hideFlagValues(args []string) {
	for i := 1; i < len(args); i++ {
		if flag.MatchString(args[i-1]) && !strings.HasPrefix(args[i], "-") {
			args[i] = hidden
		}
	}
}
