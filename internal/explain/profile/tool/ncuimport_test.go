package tool

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// reports are the real ones of recorded data, each with the pages that ncu 2024.1
// printed of it beside.
func reports(t *testing.T) []string {
	t.Helper()
	data := os.Getenv("PAWL_DATA")
	if data == "" {
		t.Skip("PAWL_DATA names no recorded data")
	}
	list, err := filepath.Glob(filepath.Join(data, "ncu", "real", "*.ncu-rep"))
	if err != nil || len(list) == 0 {
		t.Fatalf("no reports in %s: %v", data, err)
	}
	return list
}

// What is imported from a report is what the pages beside it say, to the byte where
// the same release printed them, and in every fact where another one did.
func TestRealReports(t *testing.T) {
	all := reports(t)
	for _, p := range ncus(t) {
		t.Run(p.version, func(t *testing.T) {
			for _, report := range all {
				stem := strings.TrimSuffix(report, ".ncu-rep")
				kept := map[string][]byte{}
				for _, page := range []string{"raw", "details"} {
					text, err := os.ReadFile(stem + "." + page + ".csv")
					if err != nil {
						t.Fatal(err)
					}
					kept[page] = text
					said, err := p.page(t.Context(), report, "--csv", "--page", page)
					if err != nil {
						t.Fatal(err)
					}
					if strings.HasPrefix(p.version, "2024.1.1") && !bytes.Equal(said, text) {
						t.Errorf("%s: the %s page differs from the one beside it", filepath.Base(report), page)
					}
				}
				raw, err := profile.ReadRaw(bytes.NewReader(kept["raw"]))
				if err != nil {
					t.Fatal(err)
				}
				got, err := p.importReport(t.Context(), report)
				if err != nil {
					t.Fatal(err)
				}
				if len(got.Launches) != len(raw.Launches) {
					t.Fatalf("%d launches, want %d", len(got.Launches), len(raw.Launches))
				}
				rules := 0
				for i, l := range got.Launches {
					want := raw.Launches[i].Facts()
					if diff := cmp.Diff(want, l.Facts(), near); diff != "" {
						t.Errorf("%s, launch %d (-the page beside it, +imported)\n%s", filepath.Base(report), i, diff)
					}
					if len(want) < 20 {
						t.Errorf("only %d facts", len(want))
					}
					rules += len(l.Rules)
				}
				if rules == 0 {
					t.Error("no rules")
				}
				if p.supports("session:") && got.Tool.Version == p.version {
					t.Errorf("the report is said to be of %s, which reads it: an older release wrote it", p.version)
				}
			}
		})
	}
}

// near compares numbers that were printed in different units with as many digits:
// ncu 2022.3 prints two behind the point.
var near = cmp.Comparer(func(a, b float64) bool {
	d := a - b
	return max(d, -d) <= 0.02+0.01*max(a, b, -a, -b)
})

func TestRealNcuRefusesANewerReport(t *testing.T) {
	all := reports(t)
	for _, p := range ncus(t) {
		t.Run(p.version, func(t *testing.T) {
			// A report of a release that is not yet here: its blocks are not what this one knows.
			text, err := os.ReadFile(all[0])
			if err != nil {
				t.Fatal(err)
			}
			newer := filepath.Join(t.TempDir(), "newer.ncu-rep")
			if err := os.WriteFile(newer, append(text[:16:16], bytes.Repeat([]byte{0xff}, 4096)...), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err = Import(t.Context(), NcuOptions{Program: p.path}, newer)
			if err == nil || !strings.Contains(err.Error(), "a newer one wrote it") || !strings.Contains(err.Error(), "read it with the version of ncu that wrote it") {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestImportWithoutNcu(t *testing.T) {
	_, err := Import(t.Context(), NcuOptions{Root: os.DirFS(t.TempDir()), Path: t.TempDir()}, "x.ncu-rep")
	if err == nil || !strings.Contains(err.Error(), "ncu is not installed: install Nsight Compute") {
		t.Errorf("got %v", err)
	}
}
