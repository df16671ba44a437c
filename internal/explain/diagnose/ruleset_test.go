package diagnose

import (
	"errors"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// A rule of a user, whole.
const ownRule = `id: too-many-steps
class: compute
title: Too many instructions
explains: [issue-bound]
when: instructions > 1000
says: "{instructions} instructions are too many"
share: 0.5
evidence: [instructions > 1000]
fixes:
  - {do: compute less}
tests:
  - {name: many, want: speaks, facts: {instructions: 2000}}
  - {name: few, want: silent, facts: {instructions: 10}}
`

func TestAddTakesRulesOfUsers(t *testing.T) {
	rs := Rules()
	before := len(rs.All())
	if err := rs.Add("own.yaml", []byte(ownRule)); err != nil {
		t.Fatal(err)
	}
	if err := rs.Test(); err != nil {
		t.Fatal(err)
	}
	if got := len(rs.All()); got != before+1 {
		t.Fatalf("%d rules, want %d", got, before+1)
	}
	if got := len(Rules().All()); got != before {
		t.Errorf("what a caller adds changes the rules of all: %d, were %d", got, before)
	}
	d := rs.Diagnose(Subject{Facts: profile.Facts{"instructions": 1.5e6}})
	if len(d.Findings) != 1 || d.Findings[0].Sentence != "1.5 million instructions are too many." {
		t.Errorf("got %v", d.Findings)
	}
}

func TestAddReplacesARuleOfTheSameID(t *testing.T) {
	rs := Rules()
	before := len(rs.All())
	if err := rs.Add("own.yaml", []byte(strings.ReplaceAll(ownRule, "too-many-steps", "dram-roof"))); err != nil {
		t.Fatal(err)
	}
	if got := len(rs.All()); got != before {
		t.Fatalf("%d rules, want %d", got, before)
	}
	if d := rs.Diagnose(Subject{Facts: profile.Facts{"dram_pct": 95}}); len(d.Findings) != 0 {
		t.Errorf("the rule that was replaced still speaks: %v", d.Findings)
	}
}

func TestAddSaysWhereAMistakeIs(t *testing.T) {
	without := func(line string) string { return strings.Replace(ownRule, line, "", 1) }
	with := func(old, text string) string { return strings.Replace(ownRule, old, text, 1) }
	for _, tt := range []struct{ name, text, want string }{
		{"empty", "", `r.yaml:1:1: the file is empty`},
		{"not YAML", "id: [", `r.yaml:1:1: not valid YAML`},
		{"no mapping", "- 3", `r.yaml:1:3: a rule must be a mapping`},
		{"unknown key", with("when:", "whem:"), `r.yaml:5:1: a rule has no key "whem" (did you mean "when"?)`},
		{"key twice", ownRule + "share: 1\n", `r.yaml:14:1: a rule has the key "share" twice`},
		{"missing key", without(`says: "{instructions} instructions are too many"` + "\n"), `r.yaml:1:1: the rule has no "says"`},
		{"id", with("too-many-steps", "Too Many"), `r.yaml:1:5: "Too Many" is not a valid rule id (use lowercase letters, digits and dashes)`},
		{"class", with("class: compute", "class: slow"), `r.yaml:2:8: unknown class "slow" (known: memory, compute, latency, launch, occupancy, balanced)`},
		{"quantity", with("when: instructions", "when: registers > 3 and instruction"), `r.yaml:5:25: when: unknown quantity "instruction" (did you mean "instructions"?)`},
		{"grammar", with("when: instructions > 1000", "when: instructions >"), `r.yaml:5:21: when: the expression ends too early`},
		{"not a condition", with("when: instructions > 1000", "when: instructions"), `r.yaml:5:7: when: expected a condition, got a value (compare it with a value)`},
		{"not a number", with("share: 0.5", "share: instructions > 3"), `r.yaml:7:8: share: expected a number`},
		{"colon", with("share: 0.5", "share: instructions > 3 ? 1 : 0"), `r.yaml:7:1: not valid YAML: mapping values are not allowed in this context (put text that contains a colon in quotes)`},
		{"colon in a list", with("share: 0.5", "share:\n  - instructions > 3 ? 1 : 0"), `r.yaml:8:5: share must be text (put text that contains a colon in quotes)`},
		{"brace", with("{instructions} ins", "{instructions ins"), `r.yaml:6:7: says: { is not closed`},
		{"nothing in braces", with("{instructions} ins", "{} ins"), `r.yaml:6:7: says: the braces are empty`},
		{"evidence", with("[instructions > 1000]", `["> 1000"]`), `r.yaml:8:12: evidence must be a quantity`},
		{"fix", with("{do: compute less}", "{example: x}"), `fix: missing key "do"`},
		{"want", with("want: speaks", "want: maybe"), `r.yaml:12:24: want: unknown outcome "maybe" (known: speaks, silent, intended)`},
		{"fact", with("instructions: 2000", "instructions: many"), `facts: instructions must be a number`},
		{"infinite fact", with("instructions: 2000", "instructions: .inf"), `facts: instructions must be a number`},
		{"only one answer", without("  - {name: few, want: silent, facts: {instructions: 10}}\n"), `one in which the rule speaks and one in which it is silent`},
		{"alias", with("title: Too many instructions", "title: &a x\nexplains: *a\n#"), `id must be text`},
		{"twice", "- " + strings.ReplaceAll(ownRule, "\n", "\n  ") + "\n- " + strings.ReplaceAll(ownRule, "\n", "\n  "), `the file has two rules with the id "too-many-steps"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rs := &RuleSet{}
			err := rs.Add("r.yaml", []byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %s", err, tt.want)
			}
			if _, ok := errors.AsType[*strictyaml.Error](err); !ok {
				t.Errorf("%T holds no *strictyaml.Error", err)
			}
			if len(rs.All()) != 0 {
				t.Error("a rule was added from a file with a mistake")
			}
		})
	}
}

func TestTestFindsWhatIsWrong(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"vector", strings.Replace(ownRule, "instructions: 2000", "instructions: 20", 1), `own.yaml:12:5: rule too-many-steps, test 1 (many): got silent, expected speaks`},
		{"unknown", strings.Replace(ownRule, "issue-bound", "issue-bounds", 1), `rule too-many-steps explains issue-bounds, which does not exist`},
		{"circle", strings.Replace(ownRule, "explains: [issue-bound]", "explains: [too-many-steps]", 1), `rule too-many-steps explains itself`},
		{"values missing", strings.Replace(ownRule, "says: \"{instr", "says: \"{registers} {instr", 1), `none of its sentences has all the values`},
		{"device", strings.Replace(ownRule, "want: speaks,", "want: speaks, device: abacus,", 1), `device "abacus" is not a known card or architecture`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rs := Rules()
			if err := rs.Add("own.yaml", []byte(tt.text)); err != nil {
				t.Fatal(err)
			}
			if err := rs.Test(); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
}

func FuzzAdd(f *testing.F) {
	f.Add([]byte(ownRule))
	f.Add([]byte("- " + strings.ReplaceAll(ownRule, "\n", "\n  ")))
	f.Add([]byte("a: &a [*a, *a]\n"))
	files, err := embedded.ReadDir("rules")
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range files {
		text, err := embedded.ReadFile("rules/" + file.Name())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	facts := profile.Facts{"dram_pct": 92, "sm_pct": 12, "memory_pct": 92, "registers": 32, "instructions": 1e9, "waves": 3.2, "block_size": 256}
	f.Fuzz(func(t *testing.T, data []byte) {
		rs := &RuleSet{tree: builtin().tree}
		if err := rs.Add("fuzz.yaml", data); err != nil {
			if _, ok := errors.AsType[*strictyaml.Error](err); !ok {
				t.Fatalf("%T is not a mistake with a place: %v", err, err)
			}
			return
		}
		_ = rs.Test()
		for _, finding := range rs.Diagnose(Subject{Facts: facts}).Findings {
			if s := finding.Share; s != nil && !(*s >= 0 && *s <= 1) {
				t.Errorf("rule %s has a share of %v", finding.Rule, *s)
			}
		}
	})
}
