package artifact_test

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write golden files")

func TestGolden(t *testing.T) {
	all := files(t, attention())
	for _, name := range []string{
		"README.md", "commands.txt", "environment.json", "tables/overall.tex", "tables/ranking.csv", "tables/ranking.tex",
		"tables/speedup.csv", "tables/speedup-by-config.csv", "tables/power.csv", "figures/speed.svg", "figures/speedup.svg",
	} {
		golden := filepath.Join("testdata", "attention", filepath.FromSlash(name))
		if *update {
			if err := os.MkdirAll(filepath.Dir(golden), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(golden, []byte(all[name]), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), all[name]); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
	}
}

func TestSameRecordSameBytes(t *testing.T) {
	if diff := cmp.Diff(files(t, attention()), files(t, attention())); diff != "" {
		t.Error(diff)
	}
}

func TestFileNames(t *testing.T) {
	got := slices.Sorted(maps.Keys(files(t, attention())))
	want := "README.md commands.txt environment.json figures/speed.svg figures/speedup.svg sweep.json " +
		"tables/overall.csv tables/overall.tex tables/power.csv tables/power.tex tables/ranking.csv tables/ranking.tex " +
		"tables/speedup-by-config.csv tables/speedup-by-config.tex tables/speedup.csv tables/speedup.tex"
	if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
		t.Error(diff)
	}
}
