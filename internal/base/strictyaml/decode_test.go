package strictyaml

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

type settings struct {
	Name  string           `yaml:"name"`
	Poll  time.Duration    `yaml:"poll"`
	Hosts []host           `yaml:"hosts"`
	Owner map[string]int64 `yaml:"owners"`
	Limit *float64         `yaml:"limit"`
}

type host struct {
	Name   string   `yaml:"name" require:"true"`
	Labels []string `yaml:"labels"`
	On     bool     `yaml:"on"`
}

func decode(text string) (settings, error) {
	s := settings{Poll: time.Minute}
	err := Decode("x.yaml", []byte(text), Format{Name: "the file", MaxBytes: 1000}, &s)
	return s, err
}

func TestDecode(t *testing.T) {
	got, err := decode("name: 12\nlimit: 0.5\npoll:\nowners: {a: 7}\nhosts:\n  - &h {name: a, labels: [x, y], on: true}\n  - *h\n")
	half, one := 0.5, host{"a", []string{"x", "y"}, true}
	want := settings{Name: "12", Poll: time.Minute, Hosts: []host{one, one}, Owner: map[string]int64{"a": 7}, Limit: &half}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
	if got, err := decode("hosts: [&h {name: a, on: true}, {<<: *h, name: b}]"); err != nil || !got.Hosts[1].On || got.Hosts[1].Name != "b" {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := decode("# nothing\n"); err != nil || got.Poll != time.Minute {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestDecode_ReportsEveryMistakeWithItsPosition(t *testing.T) {
	for text, want := range map[string]string{
		"nam: a\npolls: 1s\n":     `x.yaml:1:1: unknown key "nam" (did you mean "name"?)` + "\n" + `x.yaml:2:1: unknown key "polls" (did you mean "poll"?)`,
		"hosts: [{labels: x}]\n":  `x.yaml:1:9: missing key "name"` + "\n" + `x.yaml:1:18: labels: expected a list, got text "x" (write [x])`,
		"poll: soon\n":            `x.yaml:1:7: poll: expected a time such as 90s or 10m, got text "soon"`,
		"owners: {a: 1.5}\n":      `x.yaml:1:13: a: expected a whole number, got the number 1.5`,
		"owners: {a: 1e300}\n":    `x.yaml:1:13: a: expected a whole number, got the number 1e300`,
		"owners: [1]\n":           `x.yaml:1:9: owners: expected a mapping, got a list`,
		"name: [a]\n":             `x.yaml:1:7: name: expected text, got a list`,
		"name: a\nname: b\n":      `x.yaml:2:1: duplicate key "name", first on line 1`,
		"name: a\n---\nname: b\n": `x.yaml:2:1: the file must be one YAML document, this is a second one (remove the "---")`,
		"- a\n":                   `x.yaml:1:1: the file: expected a mapping, got a list`,
		"name: !secret a\n":       `x.yaml:1:7: tag !secret is not supported in the file`,
		"name:\n\t- a\n":          `x.yaml:2:1: invalid YAML: found character that cannot start any token (indent with spaces, not tabs)`,
		strings.Repeat("#", 1001): `x.yaml:1:1: the file has 1001 bytes, the limit is 1000`,
		"name: \xff\n":            `x.yaml:1:1: the file is not UTF-8 text`,
		"a: &a [*a]\n":            `x.yaml:1:1: unknown key "a" (known: name, poll, hosts, owners, limit)` + "\n" + `x.yaml:1:8: alias *a is inside its own anchor`,
	} {
		_, err := decode(text)
		if _, ok := errors.AsType[*Error](err); !ok {
			t.Errorf("%q: %v, want an *Error", text, err)
		} else if diff := cmp.Diff(want, err.Error()); diff != "" {
			t.Errorf("%q (-want +got)\n%s", text, diff)
		}
	}
}
