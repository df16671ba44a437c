package headertest_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/kernel/suite"
)

var codeBlock = regexp.MustCompile("(?ms)^```(\\w+)\n(.*?)^```$")

// The code a reader copies must compile without warnings, and run.
func TestHowToCompiles(t *testing.T) {
	page, err := os.ReadFile("../../../docs/how-to/write-a-harness.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, block := range codeBlock.FindAllStringSubmatch(string(page), -1) {
		language, code := block[1], block[2]
		seen[language]++
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			if language == "yaml" {
				if _, err := suite.Parse("pawl.yaml", []byte(code)); err != nil {
					t.Error(err)
				}
				return
			}
			source := filepath.Join(t.TempDir(), "harness."+map[string]string{"c": "c", "cpp": "cpp", "cuda": "cu"}[language])
			if err := os.WriteFile(source, []byte(code), 0o600); err != nil {
				t.Fatal(err)
			}
			compiler := map[string]string{"c": "gcc", "cpp": "g++", "cuda": "../../virtualgpu/nvcc"}[language]
			program := build(t, compiler, source, "-O2", "-Wall", "-Wextra")
			play(t, harness(program), hello,
				`> {"id":2,"op":"prepare","benchmark":"axpy","params":{"N":65536}}`, `< {"id":2,"op":"prepare","error":"<absent>"}`,
				`> {"id":3,"op":"measure","samples":3}`, `< {"id":3,"op":"measure","count":3,"samples":"<numbers 3>"}`,
				`> {"id":4,"op":"bye"}`, `< {"id":4,"op":"bye"}`, `exit 0`)
			if language != "cuda" {
				if table := run(t, 0, program); !strings.Contains(table, "N=1048576") {
					t.Errorf("started by hand it prints\n%s", table)
				}
			}
		})
	}
	for _, language := range []string{"c", "cpp", "cuda", "yaml"} {
		if seen[language] != 1 {
			t.Errorf("the page has %d blocks of %s, want 1", seen[language], language)
		}
	}
}
