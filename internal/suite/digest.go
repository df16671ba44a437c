package suite

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// digest identifies the resolved suite: the merged values with their order and,
// for scalars, their spelling; not the files they came from, nor comments, nor what is
// done about a verdict: that changes nothing that is measured.
func digest(root *node, t *tuning) string {
	text := []byte("pawl.suite/v1\n")
	for i, key := range root.keys {
		switch key.text {
		case "extends", "gate", "quarantine": // what extends brought in is in the tree
		default:
			text = root.items[i].appendTo(key.appendTo(text))
		}
	}
	text = append(text, t.String()...)
	sum := sha256.Sum256(text)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// appendTo writes every string with its length, so that no two trees read alike.
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
