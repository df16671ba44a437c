package workflow

import (
	"slices"
	"strings"
)

// Lint returns the actionlint config with the labels of the runners, which it cannot know.
func Lint(s Settings) File {
	labels := append(slices.Clone(s.Runner), s.ForkRunner...)
	labels = slices.DeleteFunc(labels, func(l string) bool { return l == "self-hosted" || l == s.Hosted })
	slices.Sort(labels)
	list := strings.Join(slices.Compact(labels), ", ") // labels need no quotes
	return File{Path: ".github/actionlint.yaml", Text: []byte("# Labels of our own runners, for actionlint.\nself-hosted-runner:\n  labels: [" + list + "]\n")}
}
