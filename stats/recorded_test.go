package stats_test

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/stats"
)

// data reads a file of recorded measurements, or the test is skipped.
func data(t *testing.T, name string, into any) {
	t.Helper()
	folder := os.Getenv("PAWL_DATA")
	if folder == "" {
		t.Skip("PAWL_DATA is not set")
	}
	b, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// recording is a file of samples that were taken on an L4, in milliseconds. The timer
// steps by about a microsecond, and the first samples are not warm.
type recording struct {
	name    string
	samples []float64
}

const recordedStep = 0.001024

func recordings(t *testing.T) []recording {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(os.Getenv("PAWL_DATA"), "l4-sdpa", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []recording
	for _, path := range paths {
		var file struct {
			Raw     []float64 `json:"raw_latencies"`
			Results any       `json:"results"`
		}
		name := filepath.Base(path)
		data(t, "l4-sdpa/"+name, &file)
		if nested, ok := file.Results.(map[string]any); ok && file.Raw == nil {
			raw, _ := nested["raw_latencies"].([]any)
			for _, v := range raw {
				file.Raw = append(file.Raw, v.(float64))
			}
		}
		if len(file.Raw) > 0 {
			list = append(list, recording{name, file.Raw})
		}
	}
	return list
}

// On real samples, of every pair of files, each answer is a number and no interval
// collapses.
func TestRecordedSamples(t *testing.T) {
	if os.Getenv("PAWL_DATA") == "" {
		t.Skip("PAWL_DATA is not set")
	}
	list := recordings(t)
	if len(list) != 17 {
		t.Fatalf("%d files with samples, want 17", len(list))
	}
	for _, a := range list {
		distinct := map[float64]bool{}
		for _, v := range a.samples {
			distinct[v] = true
		}
		if len(a.samples) != 100 || len(distinct) > 60 {
			t.Errorf("%s: %d samples, %d values: not the coarse timer that this is about", a.name, len(a.samples), len(distinct))
		}
		for _, b := range list {
			for _, quantum := range []float64{0, recordedStep} {
				answers := everything(a.samples, b.samples, quantum)
				for name, v := range answers {
					if math.IsNaN(v) || math.IsInf(v, 0) {
						t.Errorf("%s and %s, step %v: %s is %v", a.name, b.name, quantum, name, v)
					}
					low, isLow := strings.CutSuffix(name, " low")
					if high := answers[low+" high"]; isLow && !(v < high) {
						t.Errorf("%s and %s, step %v: the %s interval is %v to %v", a.name, b.name, quantum, low, v, high)
					}
				}
			}
		}
		if i := stats.MedianInterval(a.samples, 0.95, recordedStep); i.Width() < recordedStep*(1-1e-9) {
			t.Errorf("%s: %v is narrower than a step", a.name, i)
		}
	}
}

// What the samples of one process are worth: far fewer independent ones. This is why pawl
// counts rounds.
func TestRecordedSamplesAreNotIndependent(t *testing.T) {
	if os.Getenv("PAWL_DATA") == "" {
		t.Skip("PAWL_DATA is not set")
	}
	var sizes []float64
	for _, r := range recordings(t) {
		sizes = append(sizes, stats.EffectiveSize(r.samples))
	}
	t.Logf("100 samples count as %.1f, %.1f and %.1f (least, median, most)", stats.Quantile(sizes, 0), stats.Median(sizes), stats.Quantile(sizes, 1))
	if got := stats.Median(sizes); !(got < 50) {
		t.Errorf("100 samples count as %.1f independent ones", got)
	}
}
