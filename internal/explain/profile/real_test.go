package profile_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// data is the folder with recorded data; without it a test is skipped.
func data(t testing.TB) string {
	t.Helper()
	folder := os.Getenv("PAWL_DATA")
	if folder == "" {
		t.Skip("PAWL_DATA is not set")
	}
	return folder
}

func reports(t testing.TB) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(data(t), "ncu", "real", "*.raw.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 18 {
		t.Fatalf("%d reports, want 18", len(files))
	}
	for i, file := range files {
		files[i] = strings.TrimSuffix(file, ".raw.csv")
	}
	return files
}

func open(t testing.TB, file string) *profile.Profile {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	p, err := profile.Read(f)
	if err != nil {
		t.Fatalf("%s: %v", filepath.Base(file), err)
	}
	return p
}

func table(t testing.TB, file string) [][]string {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord = -1
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// Every cell of the raw pages of 18 real reports is in the record: as the number it
// is, or as the text it is.
func TestEveryCellOfTheRealRawPages(t *testing.T) {
	launches, cells := 0, 0
	for _, report := range reports(t) {
		rows := table(t, report+".raw.csv")
		p := open(t, report+".raw.csv")
		if len(p.Launches) != len(rows)-2 {
			t.Fatalf("%s: %d launches, want %d", filepath.Base(report), len(p.Launches), len(rows)-2)
		}
		for i, l := range p.Launches {
			launches++
			cells += checkRow(t, rows[0], rows[1], rows[2+i], l)
		}
	}
	if launches != 25 || cells != 22790 {
		t.Errorf("%d cells of %d launches, want 22790 of 25", cells, launches)
	}
}

func checkRow(t *testing.T, header, units, row []string, l profile.Launch) (cells int) {
	t.Helper()
	have := map[string]profile.Metric{}
	for _, m := range l.Metrics {
		have[m.Name] = m
	}
	for i, name := range header {
		cells++
		if i < 11 {
			checkID(t, name, row[i], l)
			continue
		}
		m, ok := have[name]
		switch want, err := strconv.ParseFloat(strings.ReplaceAll(row[i], ",", ""), 64); {
		case !ok:
			t.Errorf("%s is missing", name)
		case m.Unit != units[i]:
			t.Errorf("%s: unit %q, want %q", name, m.Unit, units[i])
		case err == nil && (m.Value == nil || *m.Value != want):
			t.Errorf("%s: %v, want %v", name, m.Value, want)
		case err != nil && (m.Value != nil || m.Text != row[i]):
			t.Errorf("%s: %q, want %q", name, m.Text, row[i])
		}
	}
	if len(l.Metrics) != len(header)-11 {
		t.Errorf("%d metrics of %d columns", len(l.Metrics), len(header)-11)
	}
	return cells
}

func checkID(t *testing.T, column, cell string, l profile.Launch) {
	t.Helper()
	dims := func(d [3]int) string {
		return "(" + strconv.Itoa(d[0]) + ", " + strconv.Itoa(d[1]) + ", " + strconv.Itoa(d[2]) + ")"
	}
	got := ""
	switch column {
	case "ID":
		got = strconv.Itoa(l.ID)
	case "Kernel Name":
		got = l.Kernel
	case "CC":
		got = l.CC
	case "Block Size":
		got = dims(l.Block)
	case "Grid Size":
		got = dims(l.Grid)
	default:
		for _, f := range l.Fields {
			if f.Name == column {
				got = f.Text
			}
		}
	}
	if got != cell {
		t.Errorf("%s is %q, want %q", column, got, cell)
	}
}
