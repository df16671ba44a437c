package tuning

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/judge/runner"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

// To apply what a search found, somebody changes a default. The base is then built and asked
// with the default it had: otherwise both sides would be the change.
func TestBaseHasItsOwnDefaults(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	dir, aside := t.TempDir(), t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "pawl.yaml")
	write := func(text string) {
		text = strings.NewReplacer("%[1]s", self, "%[2]s", filepath.Join(aside, "count"), "    test ! -f object.txt || exit 7\n", "", "samples: 14", "samples: 4, rounds: [1]").Replace(text)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(tunedYAML)
	gitRepository(t, dir)
	write(strings.Replace(tunedYAML, "default: 32", "default: 64", 1))
	s, err := suite.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	o := runner.Options{Suite: s, Dir: dir, Path: path, Base: "HEAD", Case: "double/N256", LockDir: aside, Seed: 1, Out: filepath.Join(dir, "results", "current.json")}
	res, err := runner.Run(t.Context(), o)
	if err != nil || res.Identical {
		t.Fatalf("%+v, %v", res, err)
	}
	run, err := measure.Load(res.Path)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"candidate": 64.0, "base": 32.0}
	for _, c := range run.Cases {
		if c.Metric != "" {
			continue
		}
		if got := c.Params["BLOCK"]; got != want[c.Implementation] || len(c.Rounds) != 1 || c.Rounds[0].Error != "" {
			t.Errorf("%s: BLOCK is %v, rounds %+v", c.CaseKey, got, c.Rounds)
		}
		delete(want, c.Implementation)
	}
	if len(want) > 0 {
		t.Errorf("%v were not measured", want)
	}
}
