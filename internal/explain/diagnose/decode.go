package diagnose

import (
	"math"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/base/lazyregexp"
)

// Limits of a rule file.
const (
	maxRules   = 500
	maxEntries = 100  // per list in a rule
	maxText    = 2000 // characters per text
)

var ruleID = lazyregexp.New(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// classWords are the valid classes of a rule.
var classWords = []Bottleneck{Memory, Compute, Latency, Launch, Occupancy, Balanced}

// rules reads the rules of a file: one mapping, or a list of them.
func (r *reader) rules(root *yaml.Node) []*Rule {
	var rules []*Rule
	r.list(root, func(n *yaml.Node) {
		if len(rules) == maxRules {
			r.Fail(n, "", "more than %d rules in a file", maxRules)
		}
		if len(rules) >= maxRules {
			return
		}
		if rule := r.rule(n); rule != nil {
			rules = append(rules, rule)
		}
	})
	return rules
}

func (r *reader) rule(n *yaml.Node) *Rule {
	x := &Rule{at: r.At(n)}
	ok := r.mapping(n, "a rule", map[string]func(*yaml.Node){
		"id":       func(n *yaml.Node) { x.ID = r.id(n) },
		"class":    func(n *yaml.Node) { x.Class = r.class(n) },
		"title":    func(n *yaml.Node) { x.Title = r.short(n, "title") },
		"explains": func(n *yaml.Node) { r.list(n, func(n *yaml.Node) { x.Explains = append(x.Explains, r.id(n)) }) },
		"when":     func(n *yaml.Node) { x.when = r.formula(n, "when", condition) },
		"unless":   func(n *yaml.Node) { x.unless = r.formula(n, "unless", condition) },
		"intended": func(n *yaml.Node) { x.intended = r.formula(n, "intended", condition) },
		"share":    func(n *yaml.Node) { x.share = r.formula(n, "share", amount) },
		"says":     func(n *yaml.Node) { x.says = r.sayings(n) },
		"tool":     func(n *yaml.Node) { r.list(n, func(n *yaml.Node) { x.tool = append(x.tool, r.toolRule(n)) }) },
		"evidence": func(n *yaml.Node) { r.list(n, func(n *yaml.Node) { x.evidence = append(x.evidence, r.clue(n)) }) },
		"fixes":    func(n *yaml.Node) { r.list(n, func(n *yaml.Node) { x.Fixes = append(x.Fixes, r.fix(n)) }) },
		"tests":    func(n *yaml.Node) { r.list(n, func(n *yaml.Node) { x.tests = append(x.tests, r.vector(n)) }) },
	})
	if !ok {
		return nil
	}
	r.complete(n, x)
	return x
}

// complete reports missing required keys of a rule.
func (r *reader) complete(n *yaml.Node, x *Rule) {
	for _, part := range []struct {
		key   string
		there bool
	}{
		{"id", x.ID != ""},
		{"class", x.Class != ""},
		{"title", x.Title != ""},
		{"when", len(x.when) > 0},
		{"says", len(x.says) > 0},
		{"evidence", len(x.evidence) > 0},
		{"tests", len(x.tests) > 0},
	} {
		if !part.there && !hasKey(n, part.key) {
			r.Fail(n, "", "the rule has no %q", part.key)
		}
	}
	if len(x.Explains)+len(x.evidence)+len(x.Fixes)+len(x.tests)+len(x.tool)+len(x.says)+len(x.when) > maxEntries {
		r.Fail(n, "", "the rule has more than %d entries", maxEntries)
	}
	fires, quiet := false, false
	for _, v := range x.tests {
		fires = fires || v.want != silent
		quiet = quiet || v.want == silent
	}
	if len(x.tests) > 0 && (!fires || !quiet) {
		r.Fail(n, "", "the tests must include one in which the rule speaks and one in which it is silent")
	}
}

func hasKey(n *yaml.Node, key string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return true
		}
	}
	return false
}

func (r *reader) short(n *yaml.Node, what string) string {
	s := r.text(n, what)
	if len(s) > maxText {
		r.Fail(n, "", "%s has %d bytes; the limit is %d", what, len(s), maxText)
		return ""
	}
	return s
}

func (r *reader) id(n *yaml.Node) string {
	s := r.text(n, "id")
	if s != "" && (len(s) > 60 || !ruleID.MatchString(s)) {
		r.Fail(n, "use lowercase letters, digits and dashes", "%.60q is not a valid rule id", s)
		return ""
	}
	return s
}

func (r *reader) class(n *yaml.Node) Bottleneck {
	s := r.text(n, "class")
	words := make([]string, len(classWords))
	for i, w := range classWords {
		if string(w) == s {
			return w
		}
		words[i] = string(w)
	}
	if s != "" {
		r.Fail(n, "known: "+strings.Join(words, ", "), "unknown class %.40q", s)
	}
	return ""
}

func (r *reader) sayings(n *yaml.Node) []sentenceRule {
	var list []sentenceRule
	r.list(n, func(n *yaml.Node) {
		if n.Kind != yaml.MappingNode {
			list = append(list, sentenceRule{text: r.template(n, "says")})
			return
		}
		var s sentenceRule
		r.mapping(n, "says", map[string]func(*yaml.Node){
			"when": func(n *yaml.Node) { s.when = r.formula(n, "when", condition) },
			"say":  func(n *yaml.Node) { s.text = r.template(n, "say") },
		})
		list = append(list, s)
	})
	return list
}

func (r *reader) toolRule(n *yaml.Node) toolRule {
	if n.Kind != yaml.MappingNode {
		return toolRule{id: r.short(n, "tool")}
	}
	var t toolRule
	r.mapping(n, "tool", map[string]func(*yaml.Node){
		"rule": func(n *yaml.Node) { t.id = r.short(n, "rule") },
		"says": func(n *yaml.Node) { t.says = r.short(n, "says") },
	})
	if t.id == "" {
		r.Fail(n, "", `tool: missing key "rule"`)
	}
	return t
}

var clueForm = lazyregexp.New(`^\s*([a-z0-9_]+)\s*(?:(<=|>=|==|<|>)\s*(.+?)\s*)?$`)

// clue reads "dram_pct >= 60": a quantity, optionally with the limit it is compared with.
func (r *reader) clue(n *yaml.Node) evidenceRule {
	text := r.text(n, "evidence")
	m := clueForm.FindStringSubmatch(text)
	if m == nil {
		r.Fail(n, "for example dram_pct >= 60", "evidence must be a quantity, optionally compared with a value")
		return evidenceRule{}
	}
	if _, ok := quantity(m[1]); !ok {
		r.Fail(n, nearQuantity(m[1]), "evidence: unknown quantity %q", m[1])
		return evidenceRule{}
	}
	c := evidenceRule{quantity: m[1], compare: m[2]}
	if m[3] != "" {
		if e := r.expression(n, m[3], r.At(n), "evidence", amount, nil); e != nil {
			c.limit = formula{e}
		}
	}
	return c
}

func (r *reader) fix(n *yaml.Node) FixRule {
	var f FixRule
	r.mapping(n, "a fix", map[string]func(*yaml.Node){
		"do":      func(n *yaml.Node) { f.Do, f.do = r.short(n, "do"), r.template(n, "do") },
		"example": func(n *yaml.Node) { f.Example = r.short(n, "example") },
		"watch":   func(n *yaml.Node) { f.Watch = r.short(n, "watch") },
		"when":    func(n *yaml.Node) { f.when = r.formula(n, "when", condition) },
		"gain":    func(n *yaml.Node) { f.gain = r.formula(n, "gain", amount, shareName) },
	})
	if f.Do == "" && !hasKey(n, "do") {
		r.Fail(n, "", `fix: missing key "do"`)
	}
	return f
}

func (r *reader) vector(n *yaml.Node) vector {
	v := vector{at: r.At(n)}
	r.mapping(n, "a test", map[string]func(*yaml.Node){
		"name":   func(n *yaml.Node) { v.name = r.short(n, "name") },
		"device": func(n *yaml.Node) { v.device = r.short(n, "device") },
		"facts":  func(n *yaml.Node) { v.facts = r.facts(n) },
		"want":   func(n *yaml.Node) { v.want = r.outcome(n) },
	})
	if v.want == "" && !hasKey(n, "want") {
		r.Fail(n, "", `test: missing key "want"`)
	}
	return v
}

func (r *reader) outcome(n *yaml.Node) outcome {
	switch s := outcome(r.text(n, "want")); s {
	case speaks, silent, intended:
		return s
	default:
		r.Fail(n, "known: speaks, silent, intended", "want: unknown outcome %.40q", string(s))
		return ""
	}
}

func (r *reader) facts(n *yaml.Node) map[string]float64 {
	if n.Kind != yaml.MappingNode {
		r.Fail(n, "", "facts must be a mapping of quantities to numbers")
		return nil
	}
	facts := map[string]float64{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		var x float64
		switch _, known := quantity(key.Value); {
		case !known:
			r.Fail(key, nearQuantity(key.Value), "facts: unknown quantity %.60q", key.Value)
		case value.Kind != yaml.ScalarNode || value.Decode(&x) != nil || math.IsNaN(x) || math.IsInf(x, 0):
			r.Fail(value, "", "facts: %s must be a number", key.Value)
		default:
			facts[key.Value] = x
		}
	}
	return facts
}
