package forge

import (
	"fmt"
	"strings"
)

// ParseRepo parses OWNER/NAME.
func ParseRepo(text string) (Repo, error) {
	owner, name, ok := strings.Cut(text, "/")
	if !ok || !plainName(owner) || !plainName(name) {
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
