package diagnose

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
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

// Reports cut a line of code behind so many characters, and half a line is no example.
func TestExamplesAreNotCut(t *testing.T) {
	const most = 100
	check := func(name, example string) {
		for line := range strings.Lines(example) {
			if len(strings.TrimRight(line, "\n")) > most {
				t.Errorf("%s: a line of its example has more than %d characters: %s", name, most, line)
			}
		}
	}
	for _, r := range Rules().All() {
		for _, f := range r.Fixes {
			check(r.ID, f.Example)
		}
	}
	all, err := allCauses()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		for _, f := range c.Fixes {
			check(c.Name, f.Example)
		}
	}
}

// A launch of which only the time is known is described by that time.
func TestAProfileOfTimesTellsThem(t *testing.T) {
	d := Rules().Diagnose(Subject{Facts: profile.Facts{"time_ns": 558e3, "queued_ns": 140, "submit_ns": 20e3, "launches": 1}})
	if want := "The profile does not show what limits the kernel, only that a launch takes 558 us after 20.1 us of waiting to start."; d.Sentence != want {
		t.Errorf("have %q\nwant %q", d.Sentence, want)
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
