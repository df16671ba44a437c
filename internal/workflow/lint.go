package workflow

import "slices"

// Lint tells actionlint the labels of the runners, which it cannot know.
func Lint(s Settings) File {
	labels := append(slices.Clone(s.Runner), s.ForkRunner...)
	labels = slices.DeleteFunc(labels, func(l string) bool { return l == "self-hosted" || l == s.Hosted })
	slices.Sort(labels)
	text := "# Labels of our own runners, for actionlint.\nself-hosted-runner:\n  labels:"
	for _, l := range slices.Compact(labels) {
		text += "\n    - " + l
	}
	if len(labels) == 0 {
		text += " []"
	}
	return File{Path: ".github/actionlint.yaml", Text: []byte(text + "\n")}
}
