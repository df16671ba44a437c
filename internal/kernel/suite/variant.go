package suite

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
)

// Variant is one build and one harness of an implementation, with placeholders filled in, and
// the cases that are measured with them. Every case belongs to exactly one variant. Variants
// with equal Build.Key share a build.
type Variant struct {
	Implementation string
	Build          Build
	Harness        Harness
	Cases          []Case

	cases []int // indexes into Suite.cases
}

// Variants returns everything to build and start, by implementation, in the order of the cases.
// The base has the variants of the candidate.
func (s *Suite) Variants() []Variant {
	var list []Variant
	for _, side := range s.sides {
		for _, v := range side.variants {
			v.Cases = make([]Case, len(v.cases))
			for i, c := range v.cases {
				v.Cases[i] = s.cases[c]
			}
			list = append(list, v)
		}
	}
	return list
}

// VariantsOf returns what to build and start for an implementation. Before the harness has listed its cases there are none,
// and the suite's own commands are used.
func (s *Suite) VariantsOf(implementation string) []Variant {
	list := slices.DeleteFunc(s.Variants(), func(v Variant) bool { return v.Implementation != implementation })
	if len(list) == 0 {
		i, _ := s.Implementation(implementation)
		list = []Variant{{Implementation: implementation, Build: i.Build, Harness: i.Harness}}
	}
	return list
}

// maxVariants is the maximum number of variants of an implementation.
const maxVariants = 1000

// placeholder matches a placeholder ${NAME} in a command; $${NAME} passes ${NAME} to the shell.
var placeholder = lazyregexp.New(`\$?\$\{([^}]*)\}`)

// safe matches values that mean the same with and without a shell.
var safe = lazyregexp.New(`^[A-Za-z0-9_.,:=+@%/-]*$`)

// fill replaces the placeholders of a text with the values of parameters. If params is nil, it
// returns the text unchanged.
func fill(s string, params Params) string {
	if params == nil {
		return s
	}
	return placeholder.ReplaceAllStringFunc(s, func(p string) string {
		if strings.HasPrefix(p, "$$") {
			return p[1:]
		}
		v, _ := params.Get(p[2 : len(p)-1])
		return formatValue(v)
	})
}

// template is a placeholder in a text of the file.
type template struct {
	param string
	at    *strictyaml.Node
	char  int // offset in the text, in characters
}

// templates returns the first placeholder of each parameter in all texts that are expanded.
func (v variantDoc) templates() []template {
	texts := slices.Concat(v.Build.texts(), []text{v.Harness.Command, v.Harness.Output}, v.Harness.Files)
	for _, e := range slices.Concat(v.Build.Env, v.Harness.Env) {
		texts = append(texts, text(e.value))
	}
	return placeholders(texts)
}

// placeholders returns the first placeholder of each parameter in texts.
func placeholders(texts []text) []template {
	var list []template
	seen := map[string]bool{}
	for _, t := range texts {
		for _, m := range placeholder.FindAllStringSubmatchIndex(t.string, -1) {
			param := t.string[m[2]:m[3]]
			if strings.HasPrefix(t.string[m[0]:], "$$") || seen[param] {
				continue
			}
			seen[param] = true
			list = append(list, template{param, t.at, utf8.RuneCountInString(t.string[:m[0]])})
		}
	}
	return list
}

// checkTemplates checks that the parameters of a benchmark can fill every placeholder of an
// implementation.
func (r *resolver) checkTemplates(b *Benchmark, s *side) {
	benchmark, names := b.Name, b.allNames()
	for _, t := range s.templates {
		if !slices.Contains(names, t.param) {
			r.AddAt(t.at.Inside(t.char), "for a shell variable, write $${"+t.param+"}",
				"${%s} is not a parameter of benchmark %q, which has %s", t.param, benchmark, listOf(names))
			continue
		}
		for _, v := range b.valuesOf(t.param) {
			if !safe.MatchString(formatValue(v)) {
				r.AddAt(t.at.Inside(t.char), "a value in a command may contain only letters, digits and _.,:=+@%/-",
					"${%s} cannot be replaced with %q, a value in benchmark %q", t.param, strictyaml.Shorten(formatValue(v)), benchmark)
				break
			}
		}
	}
}

func listOf(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// assign adds a case to the variant that measures it. It returns false if there are too many
// variants.
func (s *side) assign(index int, params Params) bool {
	params = orNone(params)
	var key strings.Builder
	for _, t := range s.templates {
		v, _ := params.Get(t.param)
		key.WriteString(formatValue(v) + "\x00")
	}
	i, ok := s.known[key.String()]
	if !ok {
		if len(s.variants) == maxVariants {
			return false
		}
		i = len(s.variants)
		s.known[key.String()] = i
		s.variants = append(s.variants, Variant{
			Implementation: s.name, Build: s.Build.plain(params), Harness: s.Harness.plain(params),
		})
	}
	s.variants[i].cases = append(s.variants[i].cases, index)
	return true
}

// VariantFor returns what to build and start for a config. The config need not be in the
// suite: fuzzing tries others.
func (s *Suite) VariantFor(implementation string, p Params) (Variant, error) {
	side := s.side(implementation)
	if side == nil {
		return Variant{}, fmt.Errorf("the suite has no implementation %q", implementation)
	}
	for _, t := range side.templates {
		v, ok := p.Get(t.param)
		if !ok || !safe.MatchString(formatValue(v)) {
			return Variant{}, fmt.Errorf("${%s} in a command of %s cannot be replaced for {%s}", t.param, implementation, p)
		}
	}
	p = orNone(p)
	return Variant{Implementation: implementation, Build: side.Build.plain(p), Harness: side.Harness.plain(p)}, nil
}
