package lesson

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
)

// reader goes through the nodes of one front matter and notes what is wrong with them. It
// goes on after a mistake, to find them all.
type reader struct {
	strictyaml.Walker
	places []*yaml.Node // of the tests
}

const colonHint = "put text with a colon in quotes, or on lines of its own under >-"

// parse reads the front matter, which begins in the second line of its file.
func (r *reader) parse(front []byte) *yaml.Node {
	root, ok := r.Parse(append([]byte("\n"), front...), strictyaml.Format{Name: "the front matter", MaxBytes: MaxFile, Invalid: "not YAML", Colon: colonHint})
	if ok && root == nil {
		r.note(1, 1, "", "the front matter is empty")
	}
	return root
}

// mapping calls a function for each key, and refuses a key that has none. It gives the keys
// that were there; nil for what is no mapping.
func (r *reader) mapping(n *yaml.Node, what string, keys map[string]func(*yaml.Node)) map[string]bool {
	if n.Kind != yaml.MappingNode {
		r.Fail(n, "", "%s: want a mapping", what)
		return nil
	}
	return r.Keys(n, what, keys)
}

// text reads a paragraph that is not empty.
func (r *reader) text(n *yaml.Node, what string, most int) string {
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		hint := ""
		if n.Kind == yaml.MappingNode {
			hint = colonHint
		}
		r.Fail(n, hint, "%s: want text", what)
		return ""
	}
	s := paragraph(n.Value)
	switch {
	case s == "":
		r.Fail(n, "", "%s: want text", what)
	case utf8.RuneCountInString(s) > most:
		r.Fail(n, "", "%s: more than %d characters", what, most)
	case strings.ContainsFunc(s, hidden): // escapes of YAML can say what the file does not show
		r.Fail(n, "", "%s: there is a character in it that nobody sees", what)
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
		r.Fail(n, "", "%s: want 1 to %d", what, maxList)
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
