package suite

import (
	"bytes"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/internal/base/strictyaml"
	"github.com/goatnote-inc/pawl/internal/kernel/suite/expr"
)

var reference = filepath.Join("..", "..", "..", "docs", "reference", "suite.md")

var (
	yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")
	fileName  = regexp.MustCompile(`^# (\S+\.yaml)\n`)
	table     = regexp.MustCompile(`(?s)<!-- table (\w+)(?: (\w+))? -->\n(.*?)<!-- end -->`)
)

// Every YAML block of the reference is a suite that loads. A block that starts with the
// name of a file is that file. A block without a version is a part and extends the
// smallest valid suite.
func TestReferenceExamples(t *testing.T) {
	text := string(read(t, reference))
	tree := map[string]string{"least.yaml": "version: 1\nharness: {command: ./harness}\n"}
	var names []string
	for i, m := range yamlBlock.FindAllStringSubmatch(text, -1) {
		block, name := m[1], fmt.Sprintf("block-%d.yaml", i+1)
		if f := fileName.FindStringSubmatch(block); f != nil {
			name = f[1]
		}
		if !strings.Contains(block, "version: 1\n") {
			block = "version: 1\nextends: least.yaml\n" + block
		}
		if block == string(defaultsYAML) {
			block = "extends: least.yaml\n" + block
		}
		tree[name] = block
		names = append(names, name)
	}
	if len(names) < 12 {
		t.Fatalf("only %d examples", len(names))
	}
	for _, name := range names {
		s, err := loadTree(t, name, tree)
		if err != nil && strings.HasPrefix(name, "common/") && strings.Contains(err.Error(), `missing key "command"`) {
			continue // made to be extended
		}
		if err != nil {
			t.Errorf("%v\n%s", err, tree[name])
		} else if len(s.Warnings) > 0 {
			t.Errorf("%v\n%s", s.Warnings, tree[name])
		}
	}
	if s, err := loadTree(t, "attention/pawl.yaml", tree); err != nil || s.Measure.Samples != 200 || s.Measure.Warmup != 50 {
		t.Errorf("the example of extends gives %+v, %v", s, err)
	}
	if !strings.Contains(text, "```yaml\n"+string(defaultsYAML)+"```") {
		t.Error("the reference does not show the defaults as they are")
	}
	for _, f := range expr.Functions() {
		if !strings.Contains(text, "`"+f+"(") {
			t.Errorf("the reference does not mention the function %s", f)
		}
	}
}

// The tables of keys are those of file.go; -update writes them.
func TestReferenceTables(t *testing.T) {
	docs := map[string]reflect.Type{}
	for _, at := range []reflect.Type{
		reflect.TypeFor[fileDoc](), reflect.TypeFor[deviceDoc](), reflect.TypeFor[buildDoc](), reflect.TypeFor[harnessDoc](),
		reflect.TypeFor[measureDoc](), reflect.TypeFor[budgetDoc](), reflect.TypeFor[metricDoc](), reflect.TypeFor[variantDoc](),
		reflect.TypeFor[benchmarkDoc](), reflect.TypeFor[overrideDoc](),
		reflect.TypeFor[policyDoc](), reflect.TypeFor[caseLimitsDoc](), reflect.TypeFor[baselineDoc](), reflect.TypeFor[gateDoc](), reflect.TypeFor[quarantineDoc](),
		reflect.TypeFor[argumentDoc](), reflect.TypeFor[mapDoc](), reflect.TypeFor[launchDoc](), reflect.TypeFor[checkDoc](), reflect.TypeFor[fuzzDoc](), reflect.TypeFor[toleranceDoc](),
		reflect.TypeFor[tuneDoc](), reflect.TypeFor[tunableDoc](), reflect.TypeFor[occupancyDoc](),
		reflect.TypeFor[gatesDoc](), reflect.TypeFor[preflightDoc](), reflect.TypeFor[claimsDoc](), reflect.TypeFor[profileDoc](),
	} {
		docs[at.Name()] = at
	}
	text := read(t, reference)
	want := table.ReplaceAllFunc(text, func(m []byte) []byte {
		parts := table.FindSubmatch(m)
		at, ok := docs[string(parts[1])]
		if !ok {
			t.Errorf("no table for %s", parts[1])
			return m
		}
		delete(docs, at.Name())
		head, _, _ := bytes.Cut(m, []byte("\n"))
		var preset *strictyaml.Node
		if len(parts[2]) > 0 {
			preset = defaults().Get(string(parts[2]))
		}
		return fmt.Appendf(nil, "%s\n%s<!-- end -->", head, keyTable(at, preset))
	})
	for name := range docs {
		t.Errorf("the reference has no table of %s", name)
	}
	golden.File(t, reference, string(want))
}

func keyTable(at reflect.Type, preset *strictyaml.Node) string {
	var b strings.Builder
	b.WriteString("| key | value | meaning |\n| --- | --- | --- |\n")
	for _, f := range strictyaml.FieldsOf(at) {
		meaning := f.Doc
		if preset != nil && preset.Get(f.Key) != nil && !strings.Contains(meaning, "Default: ") {
			value := fmt.Sprint(preset.Get(f.Key).Plain())
			meaning += " Default: `" + strings.ReplaceAll(value, " ", ", ") + "`."
		}
		key := "`" + f.Key + "`"
		if f.Required {
			key += " (required)"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", key, valueWords(f.Type, f), strings.ReplaceAll(meaning, "|", `\|`))
	}
	return b.String()
}

// valueWords says what a key takes.
func valueWords(at reflect.Type, f strictyaml.Field) string {
	if at.Implements(reflect.TypeFor[strictyaml.Enumeration]()) {
		return "`" + strings.Join(reflect.Zero(at).Interface().(strictyaml.Enumeration).Words(), "`, `") + "`"
	}
	if at.Kind() == reflect.Pointer {
		return valueWords(at.Elem(), f)
	}
	switch reflect.New(at).Interface().(type) {
	case *text:
		return "text"
	case *loose:
		return "text or a number"
	case *duration:
		return "a time"
	case *date:
		return "a day: `2026-12-31`"
	case *many[failingKind]:
		return "one or a list of `" + strings.Join(failingKind("").Words(), "`, `") + "`"
	case *size:
		return "a size: `2GB`"
	case *many[archName]:
		return "`auto`, an architecture, or a list"
	case *clocks:
		return "`free`, `base`, `max`, a frequency"
	case *share:
		return "a share: `3%` or `0.03`"
	case *formula:
		return "an expression"
	case *filter:
		return "an expression or a mapping"
	case *many[text]:
		return "text, or a list"
	case *many[cacheMode]:
		return "`hot`, `cold`, or both in a list"
	case *elementType:
		return "a type, or a parameter"
	case *fillDoc:
		return "`normal`, `uniform` or `{uniform: [low, high]}`"
	case *many[inputKind]:
		return "one or a list of `" + strings.Join(inputKind("").Words(), "`, `") + "`"
	case *scalar:
		return "a number, text, `true` or `false`"
	case *many[scalar]:
		return "one value, or a list"
	case *[]formula:
		return "a list of expressions"
	case *[]text:
		return "a list of text"
	case *[]int:
		return fmt.Sprintf("a list of numbers, %s", f.Bounds())
	case *[]filter:
		return "a list of expressions and mappings"
	}
	switch {
	case at.Kind() == reflect.Slice && at.Name() == "":
		return "a list of mappings"
	case at.Kind() == reflect.Slice, at.Kind() == reflect.Struct:
		return "a mapping"
	case at.Kind() == reflect.Bool:
		return "`true` or `false`"
	case f.Min == nil:
		return "a number"
	default:
		return "a number, " + f.Bounds()
	}
}
