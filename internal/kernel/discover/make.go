package discover

import (
	"path"
	"slices"
	"strings"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// makeRule is one rule of a Makefile, as written.
type makeRule struct {
	targets, prerequisites string
	recipe                 []string
	line                   int
}

// Limits on a Makefile.
const (
	maxRules  = 2_000
	maxRecipe = 100 // lines
)

// makefile holds the relevant parts of a Makefile: its variables and its rules. Conditions are
// not evaluated; both branches count.
type makefile struct {
	vars  map[string]string
	rules []makeRule
	phony []string
	steps int // of expansion, see makevars.go
}

var (
	makeAssign = lazyregexp.New(`^(?:export\s+|override\s+)*([A-Za-z_][A-Za-z0-9_.-]*)\s*(\?|::?:?|\+|!)?=\s*(.*)$`)
	makeNames  = []string{"GNUmakefile", "makefile", "Makefile"}
)

func parseMake(text string) *makefile {
	m := &makefile{vars: map[string]string{}}
	var rule *makeRule
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		start, l := i, strings.TrimRight(lines[i], "\r")
		for strings.HasSuffix(l, `\`) && i+1 < len(lines) && len(l) < maxExpanded {
			i++
			l = l[:len(l)-1] + " " + strings.TrimRight(lines[i], "\r")
		}
		if strings.HasPrefix(l, "\t") {
			if rule != nil && len(rule.recipe) < maxRecipe {
				rule.recipe = append(rule.recipe, l)
			}
			continue
		}
		l, _, _ = strings.Cut(l, "#")
		l = strings.TrimSpace(l)
		if l == "" {
			continue
		}
		if a := makeAssign.FindStringSubmatch(l); a != nil {
			m.assign(a[1], a[2], a[3])
			continue
		}
		rule = m.rule(l, start+1)
	}
	return m
}

func (m *makefile) assign(name, how, value string) {
	switch {
	case how == "?" && m.vars[name] != "":
	case how == "+":
		m.vars[name] = strings.TrimSpace(m.vars[name] + " " + value)
	default:
		m.vars[name] = value
	}
}

// rule parses "targets: prerequisites ; recipe"; it returns nil for any other line.
func (m *makefile) rule(l string, number int) *makeRule {
	targets, rest, ok := strings.Cut(l, ":")
	rest = strings.TrimPrefix(rest, ":")
	if !ok || len(m.rules) == maxRules || makeAssign.MatchString(strings.TrimSpace(rest)) { // the last: a target-specific variable
		return nil
	}
	prerequisites, recipe, _ := strings.Cut(rest, ";")
	if strings.TrimSpace(targets) == ".PHONY" {
		m.phony = append(m.phony, m.words(prerequisites)...)
		return nil
	}
	m.rules = append(m.rules, makeRule{targets, strings.ReplaceAll(prerequisites, "|", " "), []string{recipe}, number})
	return &m.rules[len(m.rules)-1]
}

// fromMake finds the program that a Makefile builds from a source: by a rule that lists the
// source as a prerequisite, or compiles it.
func (t *tree) fromMake(dir string, f file) (recipe, bool) {
	source := below(dir, f.path)
	for _, name := range makeNames {
		mk, ok := t.get(path.Join(dir, name))
		if !ok {
			continue
		}
		m := memo(t.makefiles, mk, parseMake)
		var found []recipe
		for _, r := range m.rules {
			for _, target := range m.words(r.targets) {
				program, ok := m.program(r, target, source)
				if !ok || !safeName.MatchString(program) {
					continue
				}
				if target == "%" {
					target = program
				}
				found = append(found, recipe{
					command:  "make" + inside("-C", dir) + " " + target,
					program:  path.Join(dir, program),
					evidence: []Evidence{{mk.path, r.line, "make " + target + " builds " + program + " from " + source}},
				})
			}
		}
		return pick(found, source)
	}
	return recipe{}, false
}

// program returns the program that a rule builds from the source for one of its targets.
func (m *makefile) program(r makeRule, target, source string) (string, bool) {
	stem := strings.TrimSuffix(source, path.Ext(source))
	if target == "%" { // a program for each source
		if slices.Contains(m.words(r.prerequisites), "%"+path.Ext(source)) {
			return stem, true
		}
		return "", false
	}
	target = clean(target)
	if !safeName.MatchString(target) || slices.Contains([]string{".o", ".obj", ".d", ".a"}, path.Ext(target)) {
		return "", false
	}
	before := m.words(r.prerequisites)
	for _, l := range r.recipe {
		words := m.automatic(l, target, before)
		o := slices.Index(words, "-o")
		if o >= 0 && o+1 < len(words) && builtFrom(words, source) && !strings.HasSuffix(words[o+1], ".o") {
			return clean(words[o+1]), true
		}
	}
	return target, builtFrom(before, source) && !slices.Contains(m.phony, target)
}

// automatic splits a line of a recipe, after expanding make's automatic variables.
func (m *makefile) automatic(l, target string, before []string) []string {
	first := ""
	if len(before) > 0 {
		first = before[0]
	}
	all := strings.Join(before, " ")
	l = strings.NewReplacer("$@", target, "$(@)", target, "$<", first, "$^", all, "$+", all).Replace(l)
	return m.words(l)
}
