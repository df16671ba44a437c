package daemon

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/goatnote-inc/pawl/internal/forge/identity"
)

// show prints the settings in the format of the file, each with its source. Secrets are masked.
func (c *config) show(w io.Writer) error {
	var text strings.Builder
	group := ""
	for _, s := range c.settings() {
		name, indent := s.key, ""
		if g, rest, ok := strings.Cut(s.key, "."); ok {
			if g != group {
				text.WriteString(g + ":\n")
			}
			group, name, indent = g, rest, "  "
		}
		fmt.Fprintf(&text, "%-46s # %s\n", indent+name+": "+shown(s.value), cmp.Or(c.from[s.key], "default"))
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// shown formats a value as YAML.
func shown(value any) string {
	switch v := value.(type) {
	case *string:
		return quoted(*v)
	case *identity.Token:
		return quoted(masked(*v))
	case *bool:
		return strconv.FormatBool(*v)
	case *int:
		return strconv.Itoa(*v)
	case *float64:
		return strconv.FormatFloat(*v, 'g', -1, 64)
	case *time.Duration:
		return v.String()
	case *[]string:
		list := make([]string, len(*v))
		for i, item := range *v {
			list[i] = quoted(item)
		}
		return "[" + strings.Join(list, ", ") + "]"
	}
	return fmt.Sprintf("%v", value)
}

// masked hides the password in the address of a database. Of any other secret it shows only that it is set.
func masked(t identity.Token) string {
	if t.IsZero() {
		return ""
	}
	u, err := url.Parse(t.Reveal())
	if err != nil || u.Host == "" || !strings.HasPrefix(u.Scheme, "postgres") {
		return t.String()
	}
	q := u.Query()
	for key := range q {
		if key != "sslmode" {
			q.Del(key) // password and sslpassword can also be here
		}
	}
	who := ""
	if u.User != nil {
		who = u.User.Username() + "@"
		if _, has := u.User.Password(); has {
			who = u.User.Username() + ":" + t.String() + "@"
		}
	}
	out := u.Scheme + "://" + who + u.Host + u.EscapedPath()
	if len(q) > 0 {
		out += "?" + q.Encode()
	}
	return out
}

// passwordOf returns the password in the address of a database.
func passwordOf(t identity.Token) string {
	u, err := url.Parse(t.Reveal())
	if err != nil || u.User == nil {
		return ""
	}
	p, _ := u.User.Password()
	return p
}

// quoted adds quotes where YAML would read the text as something else.
func quoted(text string) string {
	plain := text != ""
	for i, r := range text {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '/' || r == '_'
		plain = plain && (letter || i > 0 && (r >= '0' && r <= '9' || strings.ContainsRune(".:@=&?%+-", r)))
	}
	if plain && text != "true" && text != "false" && text != "null" && !strings.HasSuffix(text, ":") {
		return text
	}
	return strconv.Quote(text)
}
