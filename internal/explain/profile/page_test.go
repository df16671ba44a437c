package profile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

func metricNames(l profile.Launch, name string) profile.Metric {
	for _, m := range l.Metrics {
		if m.Name == name {
			return m
		}
	}
	return profile.Metric{}
}

// A summary is of launches of one shape together; it has no numbers for them.
func TestSummaryByKernel(t *testing.T) {
	p := open(t, "testdata/pages/summary_kernel.csv")
	if len(p.Launches) != 2 || p.Launches[1].ID != 1 {
		t.Fatalf("%+v", p.Launches)
	}
	want := profile.Metric{Name: "gpu__time_duration.sum", Section: "GPU Speed Of Light Throughput", Unit: "usecond", Value: new(2.0), Low: new(1.0), High: new(3.0)}
	if diff := cmp.Diff(want, metricNames(p.Launches[0], "gpu__time_duration.sum")); diff != "" {
		t.Error(diff)
	}
	if main, _ := p.Main(); main.ID != 1 {
		t.Errorf("the launch that counts is %d, want the longest", main.ID)
	}
}

// Names in the place of labels or beside them, ranges of NVTX as columns, and the
// program's output between the rows.
func TestDetailsWithNamesAndRanges(t *testing.T) {
	p := open(t, "testdata/pages/nvtx_names.csv")
	l := p.Launches[0]
	var got []profile.Metric
	for _, m := range l.Metrics {
		m.Section = ""
		got = append(got, m)
	}
	want := []profile.Metric{
		{Name: "dram__bytes.sum", Unit: "Mbyte", Value: new(1234.5)},
		{Name: "gpu__time_duration.sum", Label: "Duration", Unit: "ns", Value: new(1300500.0)},
		{Name: "launch__registers_per_thread", Label: "Registers Per Thread", Unit: "register/thread", Text: "n/a"},
		{Name: "inst_executed", Unit: "inst", Value: new(12.0), Text: "12 (5; 7)"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	facts := profile.Facts{"dram_bytes": 1.2345e9, "time_ns": 1300500, "instructions": 12, "dram_bytes_per_s": 1.2345e9 / 1300500e-9, "block_size": 64, "grid_size": 1, "threads": 64}
	if diff := cmp.Diff(facts, l.Facts()); diff != "" {
		t.Error(diff)
	}
	if field := l.Fields[len(l.Fields)-1]; !strings.HasPrefix(field.Name, "thread Domain:") || !strings.Contains(field.Text, ":pawl:") {
		t.Errorf("the range is %+v", field)
	}
	notes := []string{
		"==PROF== Connected to process 4120 (/src/gemm)", `==PROF== Profiling "gemm": 0%....50%....100% - 9 passes`,
		`rows 4, "columns" 8`, "done, 3 of 3", "==PROF== Disconnected from process 4120",
	}
	if diff := cmp.Diff(notes, p.Notes); diff != "" {
		t.Error(diff)
	}
}

func TestSummaryByGPU(t *testing.T) {
	p := open(t, "testdata/pages/summary_gpu.txt")
	var kernels []string
	for _, l := range p.Launches {
		kernels = append(kernels, l.Kernel)
	}
	if diff := cmp.Diff([]string{"gemm(float *)", "reduce(float *)"}, kernels); diff != "" {
		t.Error(diff)
	}
	m := metricNames(p.Launches[0], "gpu__time_duration.sum")
	if m.Low == nil || *m.Low != 1 || *m.High != 3 || *m.Value != 2 {
		t.Errorf("%+v", m)
	}
}

// The raw page as text: values that are broken over lines, and a name that is wider
// than its column.
func TestRawPageAsText(t *testing.T) {
	l := open(t, "testdata/pages/raw.txt").Launches[0]
	if l.CC != "8.6" || l.Block != [3]int{64, 1, 1} {
		t.Errorf("CC %s, block %v", l.CC, l.Block)
	}
	for name, want := range map[string]string{
		"device__attribute_display_name": "NVIDIA GeForce RTX 3080",
		"launch__func_cache_config":      "cudaFuncCachePreferNone",
	} {
		if m := metricNames(l, name); m.Text != want {
			t.Errorf("%s is %q, want %q", name, m.Text, want)
		}
	}
	m := metricNames(l, "smsp__a_name_that_is_much_longer_than_the_column_that_is_there_for_it")
	if m.Unit != "inst/cycle" || m.Value == nil || *m.Value != 1.25 {
		t.Errorf("%+v", m)
	}
	if len(l.Metrics) != 9 {
		t.Errorf("%d metrics, want 9", len(l.Metrics))
	}
}

// Files that are not profiles are refused with a reason.
func TestPagesThatAreRefused(t *testing.T) {
	const ids = `"ID","Kernel Name"`
	const rows = `"ID","Kernel Name","Section Name","Metric Name","Metric Unit","Metric Value"` + "\n"
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", "the file is empty"},
		{"a report", "NVR\x00\x00", "ncu --import"},
		{"no kernel", "==PROF== Connected\n==WARNING== No kernels were profiled.\n", "none of"},
		{"names alone", ids + `,"sm__cycles_active.avg"` + "\n", "line of units is missing"},
		{"no launches", ids + `,"sm__cycles_active.avg"` + "\n" + `"","","cycle"` + "\n", "it has no launch"},
		{"no units", ids + `,"sm__cycles_active.avg"` + "\n" + `"0","k","12"` + "\n", "is not the line of units"},
		{"an ID that is none", ids + `,"x__y"` + "\n" + `"","",""` + "\n" + `"zero","k","12"` + "\n", `the ID "zero" is not a number`},
		{"a column twice", ids + `,"x__y","x__y"` + "\n", "twice"},
		{"an open quote", rows + `"0","k","Occupancy","Achieved`, "the file may be cut short"},
		{"details without values", `"ID","Kernel Name","Section Name","Metric Name","Metric Unit"` + "\n", "no column Metric Value or Average"},
		{"a long cell", rows + `"0","` + strings.Repeat("k", 70_000) + `"`, "a cell has 70000 bytes"},
		{"text without its start", "    ----- ---- ----\n    Duration us 1.5\n    ----- ---- ----\n", "the start of the page is missing"},
		{"too much", strings.Repeat("x", 64<<20+1), "more than 64 MB"},
	} {
		_, err := profile.Read(strings.NewReader(c.in))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}
