package diagnose

import (
	"cmp"
	"embed"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
)

// Each file of causes/ is one cause. Its expressions can use every quantity twice: fast_registers
// is that of the side that takes less time, slow_registers that of the other. So one cause explains
// a regression and, in reverse, an improvement.

//go:embed causes/*.yaml
var causeFiles embed.FS

// causeFile is the content of a file of causes/.
type causeFile struct {
	Name      string   `yaml:"name"`
	Title     string   `yaml:"title"`
	Kind      string   `yaml:"kind"`      // code, behaviour or symptom
	Identical bool     `yaml:"identical"` // may also apply if the code is the same
	When      []string `yaml:"when"`      // conditions, any of which must hold
	Explains  []string `yaml:"explains"`  // the first that can be computed counts
	Slower    []string `yaml:"slower"`    // sentences; the first with all values known is used
	Faster    []string `yaml:"faster"`
	// Chain lists quantities with the direction in which each moves if the cause applies:
	// "registers up", "occupancy_pct down", or no word for either.
	Chain    []string `yaml:"chain"`
	Symptoms []string `yaml:"symptoms"` // causes that follow from this one
	Fixes    []struct {
		Do      string `yaml:"do"`
		Example string `yaml:"example"`
		Watch   string `yaml:"watch"`
	} `yaml:"fixes"`
}

// cause is a causeFile with compiled expressions.
type cause struct {
	causeFile
	when, explains formula
	says           map[direction][]template
}

// direction is how the time changed.
type direction uint8

const (
	slower direction = iota
	faster
)

// kinds is the order of causes that explain the same share: what a programmer changed, what the
// kernel does differently, what shows as a result.
var kinds = []string{"code", "behaviour", "symptom"}

var allCauses = sync.OnceValues(func() ([]*cause, error) {
	entries, err := causeFiles.ReadDir("causes")
	if err != nil {
		return nil, err
	}
	var list []*cause
	for _, e := range entries {
		data, err := causeFiles.ReadFile(path.Join("causes", e.Name()))
		if err != nil {
			return nil, err
		}
		c, err := readCause(data)
		if err != nil {
			return nil, fmt.Errorf("causes/%s: %w", e.Name(), err)
		}
		list = append(list, c)
	}
	return list, nil
})

func readCause(data []byte) (*cause, error) {
	c := &cause{says: map[direction][]template{}}
	if err := strictyaml.Decode("the cause", data, ruleFormat, &c.causeFile); err != nil {
		return nil, err
	}
	if c.Name == "" || c.Title == "" || !slices.Contains(kinds, c.Kind) || len(c.When) == 0 || len(c.Slower) == 0 || len(c.Faster) == 0 || len(c.Chain) == 0 {
		return nil, fmt.Errorf("%q must have a title, a kind (%s), when, slower, faster and chain", c.Name, strings.Join(kinds, ", "))
	}
	units := causeUnits()
	for into, sources := range map[*formula][]string{&c.when: c.When, &c.explains: c.Explains} {
		for _, source := range sources {
			e, err := compileCause(source, units)
			if err != nil {
				return nil, err
			}
			*into = append(*into, e)
		}
	}
	for way, texts := range map[direction][]string{slower: c.Slower, faster: c.Faster} {
		for _, text := range texts {
			t, err := parseTemplate(text, func(source string) (*expr.Expr, string, error) {
				e, err := compileCause(source, units)
				return e, units[source], err
			})
			if err != nil {
				return nil, fmt.Errorf("%q: %w", text, err)
			}
			c.says[way] = append(c.says[way], t)
		}
	}
	for _, step := range c.Chain {
		name, way, _ := strings.Cut(step, " ")
		if _, known := units["slow_"+name]; !known || way != "" && way != "up" && way != "down" {
			return nil, fmt.Errorf("chain: %q must be a quantity, optionally followed by up or down", step)
		}
	}
	return c, nil
}

// causeUnits returns the names that expressions of causes can use, with their units.
func causeUnits() map[string]string {
	units := map[string]string{}
	for _, q := range compared() {
		units["fast_"+q.Name], units["slow_"+q.Name] = q.Unit, q.Unit
		if reason, ok := strings.CutPrefix(q.Name, "stall_"); ok && !strings.HasSuffix(reason, "_pct") {
			units["cost_stall_"+reason] = ""
		}
	}
	for _, name := range costNames {
		units[name] = ""
	}
	return units
}

func compileCause(source string, units map[string]string) (*expr.Expr, error) {
	e, err := expr.Compile(source)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", source, err)
	}
	for _, v := range e.Variables() {
		if _, known := units[v.Name]; !known {
			return nil, fmt.Errorf("%q: unknown quantity %q", source, v.Name)
		}
	}
	return e, nil
}

// explain returns the causes of a change from the faster to the slower side. change is its
// logarithm, which is positive.
func explain(list []*cause, fast, slow values, change float64, same bool, way direction) []Cause {
	v := values{}
	for name, x := range fast {
		v["fast_"+name] = x
	}
	for name, x := range slow {
		v["slow_"+name] = x
	}
	costs(v, change)
	before, after := fast, slow
	if way == faster {
		before, after = slow, fast
	}
	var found []candidate
	for _, c := range list {
		if same && !c.Identical {
			continue
		}
		if yes, _ := c.when.holds(v); !yes {
			continue
		}
		if x, ok := c.candidate(v, before, after, way); ok {
			found = append(found, x)
		}
	}
	return rankCauses(found)
}

// candidate is a cause that applies, before it is ranked.
type candidate struct {
	Cause
	from  *cause
	share float64 // computed share of the change; above 1 if others worked against it
}

// minShare is the min share of the change that a named cause explains.
const minShare = 0.05

func (c *cause) candidate(v, before, after values, way direction) (candidate, bool) {
	x := candidate{Cause: Cause{Name: c.Name, Title: c.Title}, from: c}
	if share, ok := c.explains.number(v); ok && !math.IsNaN(share) {
		if share < minShare {
			return x, false
		}
		x.share = share
		bounded := min(share, 1)
		x.Explains = &bounded
	}
	for _, t := range c.says[way] {
		if s, ok := t.fill(v); ok {
			x.Sentence = sentence(s)
			break
		}
	}
	if x.Sentence == "" {
		x.Sentence = sentence(c.Title)
	}
	x.Chain = c.chain(v, before, after)
	if way == slower {
		for _, f := range c.Fixes {
			x.Fixes = append(x.Fixes, Fix{Do: f.Do, Example: f.Example, Watch: f.Watch})
		}
	}
	return x, true
}

// chain returns the visible steps. It omits quantities that did not move or moved the other way,
// which have another reason.
func (c *cause) chain(v, before, after values) []Change {
	var steps []Change
	for _, step := range c.Chain {
		name, way, _ := strings.Cut(step, " ")
		q, known := comparedQuantity(name)
		fast, there := v.get("fast_" + name)
		slow, also := v.get("slow_" + name)
		switch {
		case !known || !there || !also || logChange(fast, slow, q.Unit) <= 0.01:
		case way == "up" && slow < fast, way == "down" && slow > fast:
		default:
			steps = append(steps, changeOf(q, before, after))
		}
	}
	return steps
}

var comparedByName = sync.OnceValue(func() map[string]profile.Quantity {
	m := map[string]profile.Quantity{}
	for _, q := range compared() {
		m[q.Name] = q
	}
	return m
})

func comparedQuantity(name string) (profile.Quantity, bool) {
	q, ok := comparedByName()[name]
	return q, ok
}

// rankCauses sorts by the share explained, largest first, with symptoms after all other causes.
func rankCauses(found []candidate) []Cause {
	for i := range found {
		for _, other := range found {
			if slices.Contains(other.from.Symptoms, found[i].Name) && (other.Explains == nil || *other.Explains >= *cmp.Or(found[i].Explains, other.Explains)/3) {
				found[i].Symptom = true
			}
		}
		found[i].Symptom = found[i].Symptom || found[i].from.Kind == "symptom"
	}
	slices.SortStableFunc(found, func(a, b candidate) int {
		return cmp.Or(
			compareBool(a.Symptom, b.Symptom),
			-cmp.Compare(rankShare(a), rankShare(b)),
			cmp.Compare(slices.Index(kinds, a.from.Kind), slices.Index(kinds, b.from.Kind)),
			-cmp.Compare(a.share, b.share),
			strings.Compare(a.Name, b.Name),
		)
	})
	list := make([]Cause, len(found))
	for i, c := range found {
		list[i] = c.Cause
	}
	return list
}

// rankShare returns the share by which causes are ranked, rounded to a twentieth: smaller differences
// do not count. An unknown share ranks as 0.3.
func rankShare(c candidate) float64 {
	if c.Explains == nil {
		return 0.3
	}
	return math.Round(*c.Explains*20) / 20
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
