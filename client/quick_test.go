package client_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// agree fails where the quick way takes what the careful one refuses, or reads otherwise.
func agree(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, body []byte,
) (taken bool) {
	t.Helper()
	got, ok := client.Quick(body)
	if !ok {
		return false
	}
	want, err := client.Careful(body)
	if err != nil {
		t.Fatalf("quickly taken, carefully refused: %v\n%s", err, body)
	}
	if !reflect.DeepEqual(want, got) { // many times faster than cmp
		diff := cmp.Diff(want, got)
		t.Fatalf("(-careful +quick)\n%s\n%s", diff, body)
	}
	for i := range got.Points { // both zeros are equal
		for _, pair := range [][2]float64{{want.Points[i].Value, got.Points[i].Value}, {want.Points[i].Baseline, got.Points[i].Baseline}} {
			if math.Float64bits(pair[0]) != math.Float64bits(pair[1]) {
				t.Fatalf("%v was read as %v", pair[0], pair[1])
			}
		}
	}
	return true
}

// What Encode writes of usual points is read the quick way: else nothing was gained.
func TestQuickReadsWhatEncodeWrites(t *testing.T) {
	r := example(200)
	r.Points[7].Moved, r.Points[8].Owners, r.Points[9].Config = true, nil, "größe"
	r.Points[10].Value, r.Points[10].Low = 0.1234567890123456789, 0
	if !agree(t, encode(t, r)) {
		t.Error("left to the careful way")
	}
}

// Whatever the numbers and texts are, both ways read the same.
func TestQuickAgreesOnValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := example(rapid.IntRange(1, 4).Draw(t, "points"))
		for i := range r.Points {
			p := &r.Points[i]
			p.Value = rapid.OneOf(rapid.Float64(), rapid.Map(rapid.Int64(), func(n int64) float64 { return float64(n) / 1000 })).Draw(t, "value")
			p.Baseline = rapid.Float64().Draw(t, "baseline")
			p.Rounds = rapid.Int().Draw(t, "rounds")
			p.Config, p.Path = rapid.String().Draw(t, "config"), rapid.SampledFrom([]string{"", "a", "kernels/a.cu"}).Draw(t, "path")
			p.Owners = rapid.SliceOfN(rapid.SampledFrom([]string{"@a", "@b/c", `q"`}), 0, 4).Draw(t, "owners")
			p.Verdict = rapid.SampledFrom([]ratchet.Verdict{"", ratchet.Maintained, "odd"}).Draw(t, "verdict")
			p.Cache = rapid.SampledFrom([]measure.Cache{"", measure.Cold}).Draw(t, "cache")
			p.Moved = rapid.Bool().Draw(t, "moved")
		}
		if body, err := client.Encode(r); err == nil {
			agree(t, body)
		}
	})
}

// A body that was spoilt in one place, at each place of its last point: what is wrong then
// is seen by both ways, and what is right is the same for both.
func TestQuickAgreesOnDamage(t *testing.T) {
	r := example(2)
	r.History, r.Blobs, r.Points[1].Baseline, r.Points[1].Path, r.Points[1].Owners = nil, nil, 10, "a.cu", []string{"@a", "@b"}
	whole := string(encode(t, r))
	from := strings.LastIndex(whole, `},{`)
	taken := 0
	for _, piece := range []string{
		"", "a", ",", `"`, "{", "}", "[", "]", " ", "0", "-", ".", "e5", "\\", `\u0041`, "null", "true", "\x01", "\xff", "ü", `,"points":[{}]`, `"rounds":1,`, `"value":-0,`, `"owners":[],`,
		"{},", `,"x":1`, "9999999999", "1234567890.1234567890",
	} {
		for at := from; at <= len(whole); at++ {
			if agree(t, []byte(whole[:at]+piece+whole[min(len(whole), at+at%2):])) { // in between, or instead
				taken++
			}
		}
	}
	if taken < 1000 {
		t.Errorf("only %d were taken", taken)
	}
}

func FuzzQuick(f *testing.F) {
	f.Add(encode(f, example(2)))
	f.Add([]byte(`{"schema":"","points":[{"value":-0.50,"owners":["ü","b"]},{"owners":["ü","b"],"moved":true}]}`))
	f.Add([]byte(`{"device":{"name":"a,"points":[{"rounds":01}]}}`))
	f.Fuzz(func(t *testing.T, body []byte) { agree(t, body) })
}
