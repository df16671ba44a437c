package suite

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The YAML of a suite is the same suite in one file.
func TestYAML_ParsesToTheSameSuite(t *testing.T) {
	suites := map[string]*Suite{}
	for _, path := range files(t, "testdata/ok/*.yaml") {
		suites[path] = parse(t, string(read(t, path)))
	}
	for _, path := range files(t, "../../../examples/*/pawl.yaml") {
		s, err := Load(path)
		if err != nil {
			t.Fatal(err)
		}
		suites[path] = s
	}
	for name, tree := range map[string]map[string]string{
		"extends": {
			"pawl.yaml":          "version: 1\nextends: [common/a.yaml, common/b.yaml]\nmeasure: {samples: 7}\nquarantine: [{case: x, owner: me, until: 2026-12-31, reason: y}]\n",
			"common/a.yaml":      "version: 1\nextends: more/c.yaml\nharness: {command: ./a}\nmeasure: {samples: 5, warmup: 3}\n",
			"common/b.yaml":      "version: 1\nharness: {command: ./b}\ngate: {mode: advise, since: 2026-11-15}\n",
			"common/more/c.yaml": "version: 1\nmeasure: {rounds: [2, 4]}\n",
		},
		"extends as a name": {
			"pawl.yaml": "version: 1\nharness: {command: ./h, env: {extends: a}}\nbenchmarks: {extends: {matrix: {extends: [1, 2]}}}\n",
		},
		"text that looks like something else": {
			"pawl.yaml": "version: 1\nname: '1'\nharness: {command: \"a: b # c\\n  d\\n\", env: {A: 'true', B: '~', C: 0x1F, D: 1e3, E: '', F: \"2026-12-31\", G: \" x \", H: '<<', I: \"a\\tb\", J: 'no', K: '1:30', T: \"\\tx\\ny\", L: null-ish, M: '0o7', N: \"\\u00e9\\u2028x\"}}\n" +
				"benchmarks: {'1': {matrix: {N: [1, 1.5, true], S: ['2', 'false', 'a: b', '*c', '&d', '!e']}}}\n",
		},
		"empty sections and aliases": {
			"pawl.yaml": "version: 1\nharness: {command: &c ./h}\nmeasure:\nbuild: ~\nimplementations: {r: {harness: {command: *c}}, s: }\n",
		},
	} {
		s, err := loadTree(t, "pawl.yaml", tree)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		suites[name] = s
	}
	for name, s := range suites {
		t.Run(strings.TrimSuffix(filepath.ToSlash(name), ".yaml"), func(t *testing.T) {
			text, err := s.YAML()
			if err != nil {
				t.Fatal(err)
			}
			again, err := Parse("shown.yaml", text)
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			if again.Digest != s.Digest {
				t.Errorf("digest %s, want %s\n%s", again.Digest, s.Digest, text)
			}
			// The digest leaves these out.
			if diff := cmp.Diff(s.Gate, again.Gate) + cmp.Diff(s.Quarantine, again.Quarantine); diff != "" {
				t.Errorf("gate and quarantine (-want +got):\n%s", diff)
			}
			if once, err := again.YAML(); err != nil || string(once) != string(text) {
				t.Errorf("the YAML of the YAML differs: %v\n%s", err, cmp.Diff(string(text), string(once)))
			}
		})
	}
}
