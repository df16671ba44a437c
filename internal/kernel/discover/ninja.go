package discover

import (
	"path"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// ninjaBuild matches "build out: rule in in".
var ninjaBuild = lazyregexp.New(`(?m)^build[ \t]+([^:|\n]+?)[ \t]*:[ \t]*\S+[ \t]+([^\n]+)$`)

// fromNinja finds the program that a build.ninja builds from a source.
func (t *tree) fromNinja(dir string, f file) (recipe, bool) {
	n, ok := t.get(path.Join(dir, "build.ninja"))
	if !ok {
		return recipe{}, false
	}
	source := below(dir, f.path)
	var found []recipe
	for _, at := range ninjaBuild.FindAllStringSubmatchIndex(n.text, -1) {
		target := n.text[at[2]:at[3]]
		inputs := strings.Fields(n.text[at[4]:at[5]])
		if path.Ext(target) == ".o" || !safeName.MatchString(target) || !builtFrom(inputs, source) {
			continue
		}
		found = append(found, recipe{
			command:  "ninja" + inside("-C", dir) + " " + target,
			program:  path.Join(dir, target),
			evidence: []Evidence{{n.path, 1 + strings.Count(n.text[:at[0]], "\n"), "builds " + target + " from " + source}},
		})
	}
	return pick(found, source)
}
