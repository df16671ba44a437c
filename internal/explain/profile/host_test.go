package profile_test

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/base/mutate"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

func hostFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/host/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestReadCallgrind(t *testing.T) {
	p, err := profile.Read(bytes.NewReader(hostFile(t, "callgrind.txt")))
	if err != nil {
		t.Fatal(err)
	}
	wantTool := profile.Tool{Name: "callgrind", Version: "3.22.0", Settings: []profile.Setting{
		{Name: "I1 cache", Value: "32768 B, 64 B, 8-way associative"},
		{Name: "D1 cache", Value: "49152 B, 64 B, 12-way associative"},
		{Name: "LL cache", Value: "33554432 B, 64 B, 16-way associative"},
	}}
	if diff := cmp.Diff(wantTool, p.Tool); diff != "" {
		t.Error(diff)
	}
	l := p.Launches[0]
	if l.Kernel != "multiply(int, float const*)" {
		t.Errorf("kernel %q", l.Kernel)
	}
	shares := map[string]float64{}
	for _, m := range l.Metrics {
		if m.Section == "functions" {
			shares[m.Label] = *m.Value
		}
	}
	// Of themselves: what a function calls is not its own.
	if diff := cmp.Diff(map[string]float64{"multiply(int, float const*)": 78.5, "__memset_avx2": 20, "pawl_profiled": 1.5}, shares); diff != "" {
		t.Error(diff)
	}
	want := profile.Facts{
		"host_instructions": 1000, "host_reads": 400, "host_writes": 100, "host_l1_misses": 40, "host_l1_miss_pct": 8,
		"host_llc_misses": 8, "host_llc_miss_pct": 1.6, "host_branches": 100, "host_branch_misses": 10, "host_branch_miss_pct": 10,
	}
	if diff := cmp.Diff(want, l.Facts()); diff != "" {
		t.Error(diff)
	}
}

func TestReadPerf(t *testing.T) {
	p, err := profile.Read(bytes.NewReader(hostFile(t, "perf.csv")))
	if err != nil {
		t.Fatal(err)
	}
	want := profile.Facts{
		"host_instructions": 412345678, "host_cycles": 158012345, "host_ipc": 412345678. / 158012345, "host_reads": 120000000,
		"host_l1_misses": 6000000, "host_l1_miss_pct": 5, "host_branches": 51234567, "host_branch_misses": 123456,
		"host_branch_miss_pct": 100 * 123456. / 51234567,
	}
	if diff := cmp.Diff(want, p.Launches[0].Facts()); diff != "" {
		t.Error(diff)
	}
	if len(p.Notes) != 2 || !strings.Contains(p.Notes[0], "L1-dcache-loads was counted 50 % of the time") {
		t.Errorf("notes %q", p.Notes)
	}
	missing := map[string]string{}
	for _, m := range p.Launches[0].Metrics {
		if m.Value == nil {
			missing[m.Name] = m.Text
		}
	}
	if diff := cmp.Diff(map[string]string{"LLC-load-misses": "<not counted>", "L1-dcache-stores": "<not supported>"}, missing); diff != "" {
		t.Error(diff)
	}
}

// A processor with two kinds of cores counts each event on both.
func TestReadPerfOfTwoKindsOfCores(t *testing.T) {
	p, err := profile.ReadPerf(bytes.NewReader(hostFile(t, "perf_hybrid.csv")))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(profile.Facts{"host_instructions": 1000, "host_cycles": 400, "host_ipc": 2.5}, p.Launches[0].Facts()); diff != "" {
		t.Error(diff)
	}
}

func TestHostFilesThatSayNothing(t *testing.T) {
	const head = "# callgrind format\nevents: Ir Dr\n"
	tests := map[string]struct {
		text string
		want string
		is   error
	}{
		"nothing collected":  {head + "cmd: sh\ntotals: 0 0\n", `"sh"`, profile.ErrNothingCollected},
		"cut off":            {head + "fn=(1) a\n1 5 2\n", "collected nothing", profile.ErrNothingCollected},
		"no events":          {"# callgrind format\nfn=(1) a\n", "is the file complete", nil},
		"a count too many":   {head + "fn=(1) a\n1 5 2 3\n", "line 4: 3 values for 2 events", nil},
		"a negative count":   {head + "totals: -5\n", `line 3: "-5" is not a count`, nil},
		"an unnamed number":  {head + "fn=(7)\n", "function (7) has no name", nil},
		"not of callgrind":   {head + "what is this\n", "is not a line of a callgrind file", nil},
		"no counters":        {"<not supported>,,instructions,0,100.00,,\n", "counted nothing", profile.ErrNoCounters},
		"a foreign language": {"1,5,,instructions,1000,100.00,,\n2.5,,cycles,x,y\n", "", nil},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p, err := profile.Read(strings.NewReader(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) || tt.is != nil && !errors.Is(err, tt.is) {
				t.Errorf("have %+v, %v", p, err)
			}
		})
	}
}

func FuzzReadCallgrind(f *testing.F) {
	f.Add(hostFile(f, "callgrind.txt"))
	f.Add([]byte("# callgrind format\npositions: instr line\nevents: Ir\nfn=a\n0x10 5 7\ntotals: 7\n"))
	f.Fuzz(func(t *testing.T, data []byte) { readAnything(t, data, profile.ReadCallgrind) })
}

func FuzzReadPerf(f *testing.F) {
	f.Add(hostFile(f, "perf.csv"))
	f.Add(hostFile(f, "perf_hybrid.csv"))
	f.Fuzz(func(t *testing.T, data []byte) { readAnything(t, data, profile.ReadPerf) })
}

func TestHammerHostReaders(t *testing.T) {
	callgrind := func(t testing.TB, b []byte) { t.Helper(); readAnything(t, b, profile.ReadCallgrind) }
	perf := func(t testing.TB, b []byte) { t.Helper(); readAnything(t, b, profile.ReadPerf) }
	mutate.Run(t, [][]byte{hostFile(t, "callgrind.txt")}, callgrind)
	mutate.Run(t, [][]byte{hostFile(t, "perf.csv"), hostFile(t, "perf_hybrid.csv")}, perf)
}

// readAnything: whatever a tool left, reading it ends; what comes through has one
// launch, finite facts, and survives as a record.
func readAnything(t testing.TB, data []byte, read func(io.Reader) (*profile.Profile, error)) {
	t.Helper()
	p, err := read(bytes.NewReader(data))
	if err != nil {
		return
	}
	if len(p.Launches) != 1 {
		t.Fatalf("%d launches", len(p.Launches))
	}
	facts := p.Launches[0].Facts()
	for _, name := range slices.Sorted(maps.Keys(facts)) {
		if v := facts[name]; v < 0 || v-v != 0 {
			t.Errorf("%s is %v", name, v)
		}
	}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	again, err := profile.Read(&b)
	if err != nil {
		t.Fatalf("%v in the record of %q", err, data)
	}
	if diff := cmp.Diff(p, again); diff != "" {
		t.Error(diff)
	}
}
