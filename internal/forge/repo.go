package forge

import (
	"fmt"
	"slices"
	"strings"
)

// ParseRepo parses OWNER/NAME. An owner may have several parts, as the groups of GitLab do.
func ParseRepo(text string) (Repo, error) {
	at := strings.LastIndexByte(text, '/')
	owner, name := text[:max(at, 0)], text[at+1:]
	parts := strings.Split(owner, "/")
	if !plainName(name) || len(parts) > 20 || slices.ContainsFunc(parts, func(p string) bool { return !plainName(p) }) {
		return Repo{}, fmt.Errorf("%.100q is not a repository: expected OWNER/NAME", text)
	}
	return Repo{Owner: owner, Name: name}, nil
}

// plainName reports whether a name has no special meaning in a URL.
func plainName(s string) bool {
	return s != "" && s != "." && s != ".." && len(s) <= 100 && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.", r)
	})
}
