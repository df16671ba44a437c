package pawl_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz|Example)\w*)\(`)

// testNames returns the tests, benchmarks and fuzz targets of the packages that a go test
// argument such as ./e2e, . or ./internal/... names.
func testNames(t *testing.T, arg string) []string {
	t.Helper()
	dir, all := strings.CutSuffix(arg, "...")
	var names []string
	err := filepath.WalkDir(filepath.Clean(dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != filepath.Clean(dir) && (!all || d.Name() == "testdata") {
			return fs.SkipDir
		}
		if d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return nil
		}
		text, err := os.ReadFile(path)
		for _, f := range testFunc.FindAllStringSubmatch(string(text), -1) {
			names = append(names, f[1])
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return names
}

// unmatched returns the alternatives of a -run, -skip, -bench or -fuzz pattern that match
// no test.
func unmatched(pattern string, names []string) []string {
	var list []string
	for alternative := range strings.SplitSeq(strings.Trim(pattern, `'"`), "|") {
		top, _, _ := strings.Cut(alternative, "/")
		re, err := regexp.Compile(top)
		if err != nil || !slices.ContainsFunc(names, re.MatchString) {
			list = append(list, alternative)
		}
	}
	return list
}

var (
	patternFlag   = regexp.MustCompile(`(?:^|\s)-(?:run|skip|bench|fuzz)[ =]('[^']*'|"[^"]*"|[^\s'"]\S*)`)
	shellVariable = regexp.MustCompile(`\$[\w{(]`)
	packageArg    = regexp.MustCompile(`(?:^|\s)(\./[\w./-]*|\.)(?:\s|$)`)
)

// checkPatterns reports the patterns of one command line that match no test of the packages
// which the line names, and returns how many patterns it checked.
func checkPatterns(t *testing.T, where, line string) int {
	t.Helper()
	var names []string
	args := packageArg.FindAllStringSubmatch(line, -1)
	for _, arg := range args {
		names = append(names, testNames(t, arg[1])...)
	}
	found := patternFlag.FindAllStringSubmatch(line, -1)
	for _, f := range found {
		if pattern := strings.Trim(f[1], `'"`); pattern == "." || pattern == "^$" { // all, none
			continue
		}
		if len(args) == 0 || shellVariable.MatchString(f[1]) {
			t.Errorf("%s: cannot check the pattern %s: write it out, beside its packages", where, f[1])
			continue
		}
		for _, alternative := range unmatched(f[1], names) {
			t.Errorf("%s: no test matches %q", where, alternative)
		}
	}
	return len(found)
}

// A figure is worth nothing without the command that makes it: where a page names a test,
// the package has one of that name.
func TestDocs_NameTestsThatExist(t *testing.T) {
	checked := 0
	for _, m := range mentions(t, "go") {
		if len(m.words) > 2 && m.words[1] == "test" && slices.ContainsFunc(m.words, func(w string) bool { return strings.HasPrefix(w, "./") }) {
			checked += checkPatterns(t, m.page, strings.Join(m.words, " "))
		}
	}
	if checked < 20 {
		t.Errorf("found only %d patterns", checked)
	}
}

// A pattern that no longer matches would silently drop its tests.
func TestScripts_PatternsMatchTests(t *testing.T) {
	files, err := filepath.Glob("scripts/*")
	if err != nil {
		t.Fatal(err)
	}
	workflows, err := filepath.Glob(".github/workflows/*")
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, file := range slices.Concat(files, workflows, []string{"Makefile", ".ci/run"}) {
		if info, err := os.Stat(file); err != nil || info.IsDir() {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if strings.Contains(line, "go test") || strings.Contains(line, "measured ") {
				checked += checkPatterns(t, file, strings.TrimSpace(line))
			}
		}
	}
	if checked < 20 {
		t.Errorf("found only %d patterns", checked)
	}
}

func TestUnmatched(t *testing.T) {
	names := []string{"TestOne", "TestTwo"}
	for pattern, want := range map[string]int{"One": 0, "'One|Two'": 0, "One|Three": 1, "TestOne/sub": 0, "[": 1, "TestThree/One": 1} {
		if got := unmatched(pattern, names); len(got) != want {
			t.Errorf("unmatched(%q) = %q, want %d of them", pattern, got, want)
		}
	}
}
