package profile_test

import (
	"bytes"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/goatnote-inc/pawl/internal/base/mutate"
	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

type reader func(io.Reader) (*profile.Profile, error)

// seeds are the files of testdata whose names match.
func seeds(t testing.TB, patterns ...string) [][]byte {
	t.Helper()
	var list [][]byte
	for _, pattern := range patterns {
		files, err := filepath.Glob(filepath.Join("testdata", pattern))
		must(t, err)
		if len(files) == 0 {
			t.Fatalf("no file matches %s", pattern)
		}
		for _, file := range files {
			b, err := os.ReadFile(file)
			must(t, err)
			list = append(list, b)
		}
	}
	return list
}

// take reads anything: it refuses it, or makes a record of it that can be written and
// read again, and whose facts are numbers with names that rules know.
func take(read reader) func(testing.TB, []byte) {
	known := map[string]bool{}
	for _, q := range profile.Quantities() {
		known[q.Name] = true
	}
	return func(t testing.TB, b []byte) {
		t.Helper()
		p, err := read(bytes.NewReader(b))
		if err != nil {
			if err.Error() == "" || p != nil {
				t.Errorf("%q: an error that says nothing, or comes with a profile", b)
			}
			return
		}
		for _, l := range p.Launches {
			for name, v := range l.Facts() {
				if !known[name] || math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%q: %s is %v", b, name, v)
				}
			}
		}
		p.Main()
		if err := profile.Comparable(p, p); err != nil {
			t.Errorf("%q: not comparable with itself: %v", b, err)
		}
		if _, err := profile.Merge(p, p); err != nil {
			t.Errorf("%q: it does not merge with itself: %v", b, err)
		}
		var out bytes.Buffer
		if err := p.Write(&out); err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		again, err := profile.ReadJSON(&out)
		if err != nil {
			t.Fatalf("%q: %v", b, err)
		}
		if !reflect.DeepEqual(p, again) { // which takes a hundredth of the time of a difference
			if diff := cmp.Diff(p, again, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%q: %s", b, diff)
			}
		}
	}
}

func fuzz(f *testing.F, read reader, patterns ...string) {
	for _, seed := range seeds(f, patterns...) {
		f.Add(seed)
	}
	check := take(read)
	f.Fuzz(func(t *testing.T, b []byte) { check(t, b) })
}

func FuzzReadRaw(f *testing.F) { fuzz(f, profile.ReadRaw, "shapes/*.raw.csv") }
func FuzzReadDetails(f *testing.F) {
	fuzz(f, profile.ReadDetails, "shapes/*.details.csv", "pages/*.csv")
}
func FuzzReadText(f *testing.F)      { fuzz(f, profile.ReadText, "shapes/*.txt", "pages/*.txt") }
func FuzzReadJSON(f *testing.F)      { fuzz(f, profile.ReadJSON, "v1/*.json") }
func FuzzReadTrace(f *testing.F)     { fuzz(f, profile.ReadTrace, "traces/*_trace.csv") }
func FuzzReadCounters(f *testing.F)  { fuzz(f, profile.ReadCounters, "rocprof/*") }
func FuzzReadKernelSum(f *testing.F) { fuzz(f, profile.ReadKernelSum, "traces/*sum.csv") }
func FuzzRead(f *testing.F) {
	fuzz(f, profile.Read, "shapes/*l4*", "v1/*.json", "traces/*", "rocprof/*")
}

func TestHammerRead(t *testing.T) {
	for name, c := range map[string]struct {
		read     reader
		patterns []string
	}{
		"raw":       {profile.ReadRaw, []string{"shapes/*.raw.csv"}},
		"details":   {profile.ReadDetails, []string{"shapes/*.details.csv", "pages/*.csv"}},
		"text":      {profile.ReadText, []string{"shapes/*.txt", "pages/*.txt"}},
		"json":      {profile.ReadJSON, []string{"v1/*.json"}},
		"trace":     {profile.ReadTrace, []string{"traces/*_trace.csv"}},
		"counters":  {profile.ReadCounters, []string{"rocprof/*"}},
		"kernelsum": {profile.ReadKernelSum, []string{"traces/*sum.csv"}},
	} {
		t.Run(name, func(t *testing.T) { mutate.Run(t, seeds(t, c.patterns...), take(c.read)) })
	}
}
