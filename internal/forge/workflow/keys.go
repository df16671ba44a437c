package workflow

import (
	"bytes"
	"errors"
	"time"

	"go.yaml.in/yaml/v3"
)

// A block is a key of pawl.yaml that a gate in pull requests needs, and the text to add if
// it is missing.
type block struct{ key, text string }

func blocks(branch string, today time.Time) []block {
	baseline := "# The best confirmed commit of every case, on a branch of its own.\nbaseline:\n  keep: branch\n  remote: origin\n"
	if branch != "main" {
		baseline += "  main: " + branch + "\n"
	}
	return []block{
		{"baseline", baseline},
		{"gate", "# Only reports; fails no change yet. After two weeks the report proposes to enforce.\ngate:\n  mode: advise\n  since: " + today.Format(time.DateOnly) + "\n"},
	}
}

// AddKeys appends the missing keys for pull requests to a suite and keeps its existing
// text. Branch is the default branch. It returns the names of the added keys.
func AddKeys(suite []byte, branch string, today time.Time) (text []byte, added []string, err error) {
	top, wrong := read("pawl.yaml", suite)
	if len(wrong) > 0 {
		return nil, nil, wrong
	}
	if top == nil || top.Kind != yaml.MappingNode || top.Style&yaml.FlowStyle != 0 {
		return nil, nil, errors.New("it is not a mapping with one key per line, so nothing can be appended")
	}
	if bytes.Contains(suite, []byte("\n...")) || bytes.Contains(suite, []byte("\n---")) {
		return nil, nil, errors.New("it has a document marker (--- or ...), so nothing can be appended")
	}
	if get(top, "extends") != nil && (get(top, "gate") == nil || get(top, "baseline") == nil) {
		return nil, nil, errors.New("it extends another file, which may configure the gate")
	}
	text = bytes.TrimRight(suite, "\r\n")
	text = append(bytes.Clone(text), '\n')
	for _, b := range blocks(branch, today) {
		if get(top, b.key) == nil {
			text = append(append(text, '\n'), b.text...)
			added = append(added, b.key)
		}
	}
	if added == nil {
		return suite, nil, nil
	}
	// An indented or unfinished suite cannot be extended at its end.
	longer, wrong := read("pawl.yaml", text)
	if len(wrong) > 0 || longer == nil || len(longer.Content) != len(top.Content)+2*len(added) {
		return nil, nil, errors.New("it is indented or incomplete, so nothing can be appended")
	}
	return text, added, nil
}
