package diagnose

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// labelled is a profile of a kernel whose fault is known, with all the side effects
// that such a kernel has.
type labelled struct {
	Label    string
	Device   string
	First    string // the rule that has to speak first
	Class    Bottleneck
	Intended []string // rules that have to call what they find intended
	Facts    profile.Facts
}

func labelledProfiles(t *testing.T) map[string]labelled {
	t.Helper()
	files, err := filepath.Glob("testdata/labelled/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	list := map[string]labelled{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var l labelled
		if err := yaml.Unmarshal(text, &l); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		for name := range l.Facts {
			if _, ok := quantity(name); !ok {
				t.Errorf("%s: unknown quantity %q", file, name)
			}
		}
		list[strings.TrimSuffix(filepath.Base(file), ".yaml")] = l
	}
	return list
}

func TestLabelledProfiles(t *testing.T) {
	all := labelledProfiles(t)
	if len(all) < 30 {
		t.Fatalf("%d labelled profiles, want 30 at least", len(all))
	}
	rs := Rules()
	for name, l := range all {
		t.Run(name, func(t *testing.T) {
			s := Subject{Facts: l.Facts}
			if l.Device != "" {
				if err := s.on(l.Device); err != nil {
					t.Fatal(err)
				}
			}
			d := rs.Diagnose(s)
			if len(d.Findings) == 0 {
				t.Fatalf("%s: nothing found", l.Label)
			}
			if got := d.Findings[0]; got.Rule != l.First || got.Intended {
				t.Errorf("%s: first is %s, want %s\n%s", l.Label, got.Rule, l.First, ranking(d))
			}
			if d.Bottleneck != l.Class {
				t.Errorf("%s: %s, want %s\n%s", l.Label, d.Bottleneck, l.Class, d.Sentence)
			}
			for _, id := range l.Intended {
				if !slices.ContainsFunc(d.Findings, func(f Finding) bool { return f.Rule == id && f.Intended }) {
					t.Errorf("%s: %s is not called intended\n%s", l.Label, id, ranking(d))
				}
			}
			if len(d.Lines) < 2 {
				t.Errorf("%s: only %q", l.Label, d.Lines)
			}
		})
	}
}

// ranking is the findings for a message.
func ranking(d Diagnosis) string {
	var b strings.Builder
	for _, f := range d.Findings {
		b.WriteString("  " + f.Rule)
		if f.Share != nil {
			b.WriteString(" " + percent(100**f.Share) + " %")
		}
		if f.Intended {
			b.WriteString(" intended")
		}
		b.WriteString("  " + f.Sentence + "\n")
	}
	return b.String()
}
