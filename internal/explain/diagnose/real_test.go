package diagnose

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// report is one of the recorded ncu reports, and how its own rules compare with pawl's.
type report struct {
	name   string
	seen   Subject
	theirs []profile.Rule // the tool's own findings that count, the highest estimate first
}

func readReport(t *testing.T, raw string) report {
	t.Helper()
	read := func(file string) *profile.Profile {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		p, err := profile.Read(f)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		return p
	}
	p, err := profile.Merge(read(raw), read(strings.TrimSuffix(raw, ".raw.csv")+".details.csv"))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	s, err := NewSubject(p, nil)
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return report{strings.TrimSuffix(filepath.Base(raw), ".raw.csv"), s, theirFindings(s.Launch.Rules)}
}

// theirFindings are the rules with the highest global estimate (several, if they are
// equal); of a report from before ncu had estimates all that warn of the kernel.
func theirFindings(rules []profile.Rule) []profile.Rule {
	best := 0.0
	var list, warned []profile.Rule
	for _, r := range rules {
		if r.Kind == "WRN" && !strings.Contains(r.Text, "could not be found") {
			warned = append(warned, r)
		}
		if r.Speedup == nil || r.Scope != "global" {
			continue
		}
		switch {
		case *r.Speedup > best:
			best, list = *r.Speedup, []profile.Rule{r}
		case *r.Speedup == best:
			list = append(list, r)
		}
	}
	if best == 0 {
		return warned
	}
	return list
}

// agrees tells whether pawl's first finding is one of the tool's first.
func (r report) agrees(rs *RuleSet, d Diagnosis) bool {
	if len(d.Findings) == 0 {
		return false
	}
	rule, ok := rs.Find(d.Findings[0].Rule)
	return ok && slices.ContainsFunc(rule.tool, func(t toolRule) bool { return slices.ContainsFunc(r.theirs, t.is) })
}

func realReports(t *testing.T) []report {
	t.Helper()
	data := os.Getenv("PAWL_DATA")
	if data == "" {
		t.Skip("PAWL_DATA is not set: no recorded reports")
	}
	files, err := filepath.Glob(filepath.Join(data, "ncu", "real", "*.raw.csv"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no reports in %s: %v", data, err)
	}
	var list []report
	for _, file := range files {
		list = append(list, readReport(t, file))
	}
	return list
}

// row is a line of the table in docs/lab/diagnose.md.
func (r report) row(rs *RuleSet) (text string, agree, alone bool) {
	d := rs.Diagnose(r.seen)
	hidden := r.seen
	hidden.Launch.Rules = nil
	h := rs.Diagnose(hidden)
	agree, alone = r.agrees(rs, d), r.agrees(rs, h)
	var theirs []string
	for _, x := range r.theirs {
		name := x.ID
		if x.Speedup != nil {
			name += " " + percent(*x.Speedup) + " %"
		}
		if !slices.Contains(theirs, name) {
			theirs = append(theirs, name)
		}
	}
	answer := map[bool]string{true: "yes", false: "no"}
	text = fmt.Sprintf("| %s | %s | %s | %s | %s | %s |", r.name, strings.Join(theirs, ", "),
		d.Findings[0].Rule, answer[agree], h.Findings[0].Rule, answer[alone])
	return text, agree, alone
}

// On real reports pawl's first finding is the one for which ncu itself estimates the
// most. Where it is not, the page says why.
func TestRealReportsAgreeWithTheTool(t *testing.T) {
	page, err := os.ReadFile("../../../docs/lab/diagnose.md")
	if err != nil {
		t.Fatal(err)
	}
	rs := Rules()
	all, agreed, agreedAlone := 0, 0, 0
	for _, r := range realReports(t) {
		row, agree, alone := r.row(rs)
		if !strings.Contains(string(page), row+"\n") {
			t.Errorf("docs/lab/diagnose.md has no\n%s", row)
		}
		if explained := strings.Contains(string(page), "\n- **"+r.name+"**"); explained == agree {
			t.Errorf("%s: agrees %v, explained in docs/lab/diagnose.md %v", r.name, agree, explained)
		}
		all++
		if agree {
			agreed++
		}
		if alone {
			agreedAlone++
		}
	}
	if agreed < 15 {
		t.Errorf("%d of %d reports agree, want 15", agreed, all)
	}
	for _, line := range []string{
		fmt.Sprintf("**%d of %d**", agreed, all),
		fmt.Sprintf("With the estimates hidden from pawl %d of %d", agreedAlone, all),
	} {
		if !strings.Contains(string(page), line) {
			t.Errorf("docs/lab/diagnose.md does not say %q", line)
		}
	}
}

// What ncu estimates has a place among pawl's rules, and a stall reason only one: its
// text alone tells which it is.
func TestToolsFindingsHaveTheirRule(t *testing.T) {
	rs := Rules()
	for _, r := range realReports(t) {
		for _, theirs := range r.seen.Launch.Rules {
			var ids []string
			for _, x := range rs.All() {
				if slices.ContainsFunc(x.tool, func(t toolRule) bool { return t.is(theirs) }) {
					ids = append(ids, x.ID)
				}
			}
			global := theirs.Speedup != nil && theirs.Scope == "global"
			switch {
			case strings.HasPrefix(theirs.ID, "CPIStall") && theirs.Kind != "INF" && len(ids) != 1:
				t.Errorf("%s: %s (%.80s) is %v, want one rule", r.name, theirs.ID, theirs.Text, ids)
			case global && len(ids) == 0 && !strings.Contains(theirs.Text, "L2 Slice"):
				t.Errorf("%s: %s (%.80s) has no rule", r.name, theirs.ID, theirs.Text)
			}
		}
	}
}
