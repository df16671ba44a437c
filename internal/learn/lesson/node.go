package lesson

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/spell"
)

// reader goes through the nodes of one front matter and notes what is wrong with them. It
// goes on after a mistake, to find them all.
type reader struct {
	file   string
	errs   MistakesError
	places []*yaml.Node // of the tests
}

var yamlLine = lazyregexp.New(`^yaml: (?:line (\d+): )?(?s:(.*))$`)

const colonHint = "put text with a colon in quotes, or on lines of its own under >-"

// parse reads the front matter, which begins in the second line of its file.
func (r *reader) parse(front []byte) *yaml.Node {
	var doc yaml.Node
	if err := yaml.Unmarshal(front, &doc); err != nil {
		msg, hint, line := err.Error(), "", 1
		if m := yamlLine.FindStringSubmatch(msg); m != nil {
			msg = m[2]
			if n, err := strconv.Atoi(m[1]); err == nil {
				line = n + 1
			}
		}
		if strings.Contains(msg, "mapping values are not allowed") {
			hint = colonHint
		}
		r.note(line, 1, hint, "not YAML: %s", msg)
		return nil
	}
	if len(doc.Content) == 0 {
		r.note(1, 1, "", "the front matter is empty")
		return nil
	}
	return doc.Content[0]
}

func (r *reader) at(n *yaml.Node) (line, col int) { return max(n.Line, 1) + 1, max(n.Column, 1) }

func (r *reader) fail(n *yaml.Node, hint, format string, args ...any) {
	line, col := r.at(n)
	r.note(line, col, hint, format, args...)
}

// mapping calls a function for each key, and refuses a key that has none. It gives the keys
// that were there; nil for what is no mapping.
func (r *reader) mapping(n *yaml.Node, what string, keys map[string]func(*yaml.Node)) map[string]bool {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "", "%s: want a mapping", what)
		return nil
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		read, ok := keys[key.Value]
		switch {
		case !ok:
			var all []string
			for k := range keys {
				all = append(all, k)
			}
			slices.Sort(all)
			hint := "there are " + strings.Join(all, ", ")
			if near := spell.Nearest(key.Value, all); near != "" {
				hint = "did you mean " + strconv.Quote(near) + "?"
			}
			r.fail(key, hint, "%s has no key %.40q", what, key.Value)
		case seen[key.Value]:
			r.fail(key, "", "%s has the key %q twice", what, key.Value)
		default:
			seen[key.Value] = true
			read(n.Content[i+1])
		}
	}
	return seen
}

// text reads a paragraph that is not empty.
func (r *reader) text(n *yaml.Node, what string, most int) string {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		hint := ""
		if n.Kind == yaml.MappingNode {
			hint = colonHint
		}
		r.fail(n, hint, "%s: want text", what)
		return ""
	}
	s := paragraph(n.Value)
	switch {
	case s == "":
		r.fail(n, "", "%s: want text", what)
	case utf8.RuneCountInString(s) > most:
		r.fail(n, "", "%s: more than %d characters", what, most)
	case strings.ContainsFunc(s, hidden): // escapes of YAML can say what the file does not show
		r.fail(n, "", "%s: there is a character in it that nobody sees", what)
	default:
		return s
	}
	return ""
}

// paragraph makes one of text.
func paragraph(s string) string { return strings.Join(strings.Fields(s), " ") }

// list reads a list, or one entry that stands for itself.
func (r *reader) list(n *yaml.Node, what string, each func(*yaml.Node) string) []string {
	items := []*yaml.Node{n}
	if n.Kind == yaml.SequenceNode {
		items = n.Content
	}
	if len(items) == 0 || len(items) > maxList {
		r.fail(n, "", "%s: want 1 to %d", what, maxList)
		return nil
	}
	var list []string
	for _, item := range items {
		if s := each(item); s != "" {
			list = append(list, s)
		}
	}
	return list
}
