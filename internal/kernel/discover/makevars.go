package discover

import "strings"

// Limits on expanding variables, which could otherwise grow without end.
const (
	maxExpansions = 50_000 // per Makefile
	maxExpanded   = 16 << 10
	maxNesting    = 20
)

// words expands a text and splits it into words.
func (m *makefile) words(text string) []string {
	return strings.Fields(m.expand(text[:min(len(text), maxExpanded)], 0))
}

// expand fills in $(NAME), ${NAME}, $(NAME:.c=.o) and $(patsubst ...). Any other call stays as
// written, and so names no file.
func (m *makefile) expand(text string, depth int) string {
	var b strings.Builder
	for {
		at := strings.IndexByte(text, '$')
		m.steps++
		if at < 0 || at+1 >= len(text) || b.Len() > maxExpanded || depth > maxNesting || m.steps > maxExpansions {
			b.WriteString(text)
			return b.String()[:min(b.Len(), maxExpanded)]
		}
		b.WriteString(text[:at])
		text = text[at:]
		body, rest, ok := reference(text)
		if !ok {
			b.WriteByte('$')
			text = text[1:]
			continue
		}
		b.WriteString(m.value(body, depth))
		text = rest
	}
}

// reference splits "$(body)rest".
func reference(text string) (body, rest string, ok bool) {
	closing, found := map[byte]byte{'(': ')', '{': '}'}[text[1]]
	if !found {
		return "", "", false
	}
	open := 0
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case text[1]:
			open++
		case closing:
			if open--; open == 0 {
				return text[2:i], text[i+1:], true
			}
		}
	}
	return "", "", false
}

func (m *makefile) value(body string, depth int) string {
	if args, ok := strings.CutPrefix(body, "patsubst "); ok {
		if parts := strings.SplitN(args, ",", 3); len(parts) == 3 {
			return substitute(m.expand(parts[2], depth+1), strings.TrimSpace(parts[0]), strings.TrimSpace(parts[1]))
		}
	}
	if name, change, ok := strings.Cut(body, ":"); ok {
		from, to, _ := strings.Cut(change, "=")
		if !strings.Contains(from, "%") {
			from, to = "%"+from, "%"+to
		}
		if value, known := m.vars[name]; known {
			return substitute(m.expand(value, depth+1), from, to)
		}
	}
	if value, known := m.vars[body]; known {
		return m.expand(value, depth+1)
	}
	return "$(" + body + ")"
}

// substitute replaces the words of a text that match a pattern with one %.
func substitute(text, from, to string) string {
	before, after, _ := strings.Cut(from, "%")
	var out []string
	for w := range strings.FieldsSeq(text) {
		if len(w) >= len(before)+len(after) && strings.HasPrefix(w, before) && strings.HasSuffix(w, after) {
			w = strings.Replace(to, "%", w[len(before):len(w)-len(after)], 1)
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}
