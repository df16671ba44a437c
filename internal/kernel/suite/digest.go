package suite

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// digest identifies the resolved suite. It covers the merged values, their order and, for
// scalars, their spelling. It ignores file names, comments, and the keys that only decide
// what happens after a verdict, because these do not affect the measurement.
func digest(root *node, t *tuning) string {
	text := []byte("pawl.suite/v1\n")
	for i, key := range root.keys {
		switch key.text {
		case "extends", "gate", "quarantine": // the tree already contains the extended files
		default:
			text = root.items[i].appendTo(key.appendTo(text))
		}
	}
	text = append(text, t.String()...)
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// appendTo writes every string with its length, so that different trees give different text.
func (n *node) appendTo(text []byte) []byte {
	switch n.kind {
	case scalarNode:
		return fmt.Appendf(text, "%s %d:%s\n", n.tag, len(n.text), n.text)
	case listNode:
		text = fmt.Appendf(text, "list %d\n", len(n.items))
	case mapNode:
		text = fmt.Appendf(text, "map %d\n", len(n.items))
	}
	for i, item := range n.items {
		if n.kind == mapNode {
			text = n.keys[i].appendTo(text)
		}
		text = item.appendTo(text)
	}
	return text
}
