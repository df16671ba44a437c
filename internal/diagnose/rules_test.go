package diagnose

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The rules that pawl comes with: every one has vectors for both answers (the decoder
// refuses others), and does with them what they say.
func TestRulesDoWhatTheirVectorsSay(t *testing.T) {
	rs, err := load()
	if err != nil {
		t.Fatal(err)
	}
	if err := rs.Test(); err != nil {
		t.Error(err)
	}
	if n := len(rs.All()); n < 35 {
		t.Errorf("there are %d rules, want 35 at least", n)
	}
}

func TestRulesStandInFilesOfTheirName(t *testing.T) {
	files, err := filepath.Glob("rules/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("rules: %v, %d files", err, len(files))
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		rs := &RuleSet{}
		if err := rs.Add(file, text); err != nil {
			t.Errorf("%v", err)
			continue
		}
		want := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if all := rs.All(); len(all) != 1 || all[0].ID != want {
			t.Errorf("%s: want one rule %q", file, want)
		}
	}
}

// A finding without a way out is no help.
func TestRulesHaveFixes(t *testing.T) {
	for _, r := range Rules().All() {
		if len(r.Fixes) == 0 {
			t.Errorf("rule %s has no fix", r.ID)
		}
	}
}
