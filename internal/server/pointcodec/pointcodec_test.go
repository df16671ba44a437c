package pointcodec_test

import (
	"bytes"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/internal/server/pointcodec"
	"github.com/goatnote-inc/pawl/internal/server/pointcodec/pointcodectest"
	"github.com/goatnote-inc/pawl/measure"
	"github.com/goatnote-inc/pawl/ratchet"
)

// anyPoints are sorted points with whatever numbers.
func anyPoints(least, most int) *rapid.Generator[[]pointcodec.Point] {
	number := rapid.Custom(func(t *rapid.T) float32 {
		f := math.Float32frombits(rapid.Uint32().Draw(t, "bits"))
		if f != f || math.IsInf(float64(f), 0) {
			return 0
		}
		return f
	})
	return rapid.Custom(func(t *rapid.T) []pointcodec.Point {
		unit := rapid.SampledFrom([]int64{1, 1000, 1_000_000}).Draw(t, "unit")
		list := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) pointcodec.Point {
			return pointcodec.Point{
				At:     rapid.Int64Range(-1<<30, 1<<32).Draw(t, "at") * unit,
				Report: rapid.Int64Range(0, math.MaxInt64).Draw(t, "report"),
				Value:  number.Draw(t, "value"), Low: number.Draw(t, "low"), High: number.Draw(t, "high"),
				Spread: number.Draw(t, "spread"), Baseline: number.Draw(t, "baseline"),
				Rounds: rapid.Int32Range(0, math.MaxInt32).Draw(t, "rounds"),
				Flags:  anyFlags(t),
			}
		}), least, most).Draw(t, "points")
		slices.SortFunc(list, pointcodec.Compare)
		return slices.CompactFunc(list, func(a, b pointcodec.Point) bool { return pointcodec.Compare(a, b) == 0 })
	})
}

func anyFlags(t *rapid.T) pointcodec.Flags {
	return pointcodec.Flags(rapid.Int16Range(0, 127).Filter(func(n int16) bool { return pointcodec.Flags(n).Valid() }).Draw(t, "flags"))
}

func TestDecodeGivesBackEveryBit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		points := anyPoints(1, 40).Draw(t, "tile")
		data, err := pointcodec.Encode(points)
		if err != nil {
			t.Fatal(err)
		}
		again, err := pointcodec.Decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if len(again) != len(points) {
			t.Fatalf("%d points became %d", len(points), len(again))
		}
		for i := range points {
			if !same(points[i], again[i]) {
				t.Fatalf("point %d was %+v and is %+v", i, points[i], again[i])
			}
		}
	})
}

// same compares bits: 0 and -0 are not the same.
func same(a, b pointcodec.Point) bool {
	bits := func(p pointcodec.Point) [5]uint32 {
		return [5]uint32{math.Float32bits(p.Value), math.Float32bits(p.Low), math.Float32bits(p.High), math.Float32bits(p.Spread), math.Float32bits(p.Baseline)}
	}
	return pointcodec.Compare(a, b) == 0 && bits(a) == bits(b) && a.Rounds == b.Rounds && a.Flags == b.Flags
}

func TestBelievablePointsTakeTwentyBytesAtMost(t *testing.T) {
	bytes, points := 0, 0
	for seed := range uint64(40) {
		data, err := pointcodec.Encode(pointcodectest.History(pointcodec.MaxPoints, seed))
		if err != nil {
			t.Fatal(err)
		}
		bytes, points = bytes+len(data), points+pointcodec.MaxPoints
	}
	each := float64(bytes) / float64(points)
	t.Logf("%.2f bytes a point", each)
	if each > 20 {
		t.Errorf("a point takes %.2f bytes, more than 20", each)
	}
}

func TestEncodeRefuses(t *testing.T) {
	good := pointcodec.Point{At: 1, Report: 1, Value: 1, Low: 1, High: 1}
	with := func(change func(*pointcodec.Point)) []pointcodec.Point {
		p := good
		change(&p)
		return []pointcodec.Point{p}
	}
	for name, points := range map[string][]pointcodec.Point{
		"no points":       nil,
		"too many":        pointcodectest.History(pointcodec.MaxPoints+1, 1),
		"not sorted":      {{At: 2}, {At: 1}},
		"one point twice": {{At: 2, Report: 3}, {At: 2, Report: 3}},
		"not a number":    with(func(p *pointcodec.Point) { p.Low = float32(math.NaN()) }),
		"infinity":        with(func(p *pointcodec.Point) { p.Baseline = float32(math.Inf(1)) }),
		"unknown flags":   with(func(p *pointcodec.Point) { p.Flags = 15 << 2 }),
		"negative rounds": with(func(p *pointcodec.Point) { p.Rounds = -1 }),
		"year 10000":      with(func(p *pointcodec.Point) { p.At = math.MaxInt64 }),
	} {
		if data, err := pointcodec.Encode(points); err == nil {
			t.Errorf("%s: encoded in %d bytes", name, len(data))
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	data, err := pointcodec.Encode(pointcodectest.History(100, 3))
	if err != nil {
		t.Fatal(err)
	}
	later := bytes.Clone(data)
	later[0]++
	for name, bad := range map[string][]byte{
		"nothing": nil, "only a version": {pointcodec.Version}, "another version": later,
		"cut": data[:len(data)-1], "more": append(bytes.Clone(data), 0),
	} {
		if _, err := pointcodec.Decode(bad); !errors.Is(err, pointcodec.ErrCorrupt) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestFlags(t *testing.T) {
	// The numbers are stored: they may not change.
	for _, c := range []struct {
		trust   measure.Trust
		verdict ratchet.Verdict
		moved   bool
		want    pointcodec.Flags
	}{
		{measure.Checked, "", false, 0},
		{measure.Trusted, ratchet.Identical, false, 1 | 1<<2},
		{measure.SelfTimed, ratchet.Maintained, true, 2 | 2<<2 | 64},
		{measure.TrustImported, ratchet.Improvement, false, 3 | 3<<2},
		{measure.Checked, ratchet.Regression, false, 4 << 2},
		{measure.Checked, ratchet.Inconclusive, false, 5 << 2},
		{measure.Checked, ratchet.New, false, 6 << 2},
		{measure.Checked, ratchet.Missing, false, 7 << 2},
		{measure.Checked, ratchet.Broken, true, 8<<2 | 64},
	} {
		f, err := pointcodec.Pack(c.trust, c.verdict, c.moved)
		if err != nil || f != c.want || !f.Valid() {
			t.Errorf("%s, %s, %v: %d, want %d (%v)", c.trust, c.verdict, c.moved, f, c.want, err)
		}
		if f.Trust() != c.trust || f.Verdict() != c.verdict || f.Moved() != c.moved {
			t.Errorf("%d says %s, %s, %v", f, f.Trust(), f.Verdict(), f.Moved())
		}
	}
	if _, err := pointcodec.Pack("blind", "", false); err == nil {
		t.Error("an unknown trust level was packed")
	}
	if _, err := pointcodec.Pack(measure.Checked, "splendid", false); err == nil {
		t.Error("an unknown verdict was packed")
	}
	for _, f := range []pointcodec.Flags{-1, 128, 9 << 2, 15 << 2} {
		if f.Valid() {
			t.Errorf("%d is valid", f)
		}
		if f >= 0 && f.Verdict() != "" && f < 128 {
			t.Errorf("%d says %s", f, f.Verdict())
		}
	}
}

func TestMergeAndSplit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyPoints(0, 30).Draw(t, "old"), anyPoints(0, 30).Draw(t, "newer")
		if len(a) > 0 { // one that both have
			p := a[len(a)/2]
			p.Rounds ^= 1
			b = pointcodec.Merge(b, []pointcodec.Point{p})
		}
		merged := pointcodec.Merge(a, b)
		if !slices.IsSortedFunc(merged, pointcodec.Compare) {
			t.Fatal("not sorted")
		}
		has := map[[2]int64]pointcodec.Point{}
		for _, p := range a {
			has[[2]int64{p.At, p.Report}] = p
		}
		for _, p := range b {
			has[[2]int64{p.At, p.Report}] = p
		}
		if len(has) != len(merged) {
			t.Fatalf("%d points became %d", len(has), len(merged))
		}
		for _, p := range merged {
			if !same(has[[2]int64{p.At, p.Report}], p) {
				t.Fatalf("%+v is not the newer one", p)
			}
		}
	})
	for _, c := range []struct {
		n    int
		open bool
		want []int
	}{
		{0, true, nil},
		{256, true, []int{256}},
		{600, true, []int{256, 256, 88}},
		{257, false, []int{129, 128}},
		{256, false, []int{256}},
		{600, false, []int{200, 200, 200}},
	} {
		var sizes []int
		for _, part := range pointcodec.Split(pointcodectest.History(c.n, 1), c.open) {
			sizes = append(sizes, len(part))
		}
		if diff := cmp.Diff(c.want, sizes); diff != "" {
			t.Errorf("%d points, open %v: %s", c.n, c.open, diff)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for n := range 4 {
		data, err := pointcodec.Encode(pointcodectest.History(1+n*80, uint64(n)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte{pointcodec.Version, 0x28, 0xb5, 0x2f, 0xfd})
	f.Fuzz(func(t *testing.T, data []byte) {
		points, err := pointcodec.Decode(data)
		if err != nil {
			if !errors.Is(err, pointcodec.ErrCorrupt) || points != nil {
				t.Fatalf("%d points and %v", len(points), err)
			}
			return
		}
		again, err := pointcodec.Encode(points)
		if err != nil {
			t.Fatalf("decoded what cannot be encoded: %v", err)
		}
		if back, err := pointcodec.Decode(again); err != nil || !slices.EqualFunc(points, back, same) {
			t.Fatalf("not the same when encoded again: %v", err)
		}
	})
}

// Columns are reached past the compression, which a fuzzer rarely gets right.
func FuzzColumns(f *testing.F) {
	f.Add([]byte{1, 0, 2, 2, 8, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add(bytes.Repeat([]byte{0x80}, 100))
	f.Fuzz(func(t *testing.T, raw []byte) {
		points, err := pointcodec.Decode(packed(t, raw))
		if err != nil {
			return
		}
		again, err := pointcodec.Encode(points)
		if err != nil {
			t.Fatalf("decoded what cannot be encoded: %v", err)
		}
		if back, err := pointcodec.Decode(again); err != nil || !slices.EqualFunc(points, back, same) {
			t.Fatalf("not the same when encoded again: %v", err)
		}
	})
}

// packed makes a tile of whatever bytes its columns are.
func packed(t testing.TB, raw []byte) []byte {
	t.Helper()
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return w.EncodeAll(raw, []byte{pointcodec.Version})
}

// A few bytes that unpack to many are refused before they are unpacked.
func TestDecodeBomb(t *testing.T) {
	bomb := packed(t, make([]byte, 64<<20))
	if _, err := pointcodec.Decode(bomb); !errors.Is(err, pointcodec.ErrCorrupt) {
		t.Errorf("%d bytes that unpack to 64 MB: %v", len(bomb), err)
	}
	var m0, m1 runtime.MemStats
	runtime.ReadMemStats(&m0)
	_, _ = pointcodec.Decode(bomb)
	runtime.ReadMemStats(&m1)
	if took := m1.TotalAlloc - m0.TotalAlloc; took > 1<<20 {
		t.Errorf("a bomb took %d bytes of memory", took)
	}
}

func BenchmarkDecode(b *testing.B) {
	data, _ := pointcodec.Encode(pointcodectest.History(pointcodec.MaxPoints, 1))
	for b.Loop() {
		if _, err := pointcodec.Decode(data); err != nil {
			b.Fatal(err)
		}
	}
}
