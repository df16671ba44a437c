package suite

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// YAML returns the suite as one file: the files that it extends are merged, and every default is filled in.
func (s *Suite) YAML() ([]byte, error) {
	root := *s.root
	root.keys, root.items = nil, nil
	for i, key := range s.root.keys {
		if key.text != "extends" { // the tree already contains the extended files
			root.keys, root.items = append(root.keys, key), append(root.items, s.root.items[i])
		}
	}
	text, err := yaml.Marshal(root.yaml())
	if err != nil {
		return nil, fmt.Errorf("cannot show the suite: %w", err)
	}
	return text, nil
}

// ambiguousText matches text that must be quoted and that the YAML library does not quote: the merge key, what YAML 1.1
// reads as a boolean or as a number of base 60, and a tab at the start, which cannot start a block of lines.
var ambiguousText = lazyregexp.New(`^(?i:<<|yes|no|on|off|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+(\.[0-9_]*)?)$|^\t`)

// yaml returns the value as a node of the YAML library.
func (n *node) yaml() *yaml.Node {
	switch n.kind {
	case mapNode:
		y := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		for i, key := range n.keys {
			y.Content = append(y.Content, key.yaml(), n.items[i].yaml())
		}
		return y
	case listNode:
		y := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, item := range n.items {
			y.Content = append(y.Content, item.yaml())
		}
		return y
	default:
		y := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!" + n.tag, Value: n.text}
		if n.isText() && ambiguousText.MatchString(n.text) {
			y.Style = yaml.DoubleQuotedStyle
		}
		return y
	}
}
