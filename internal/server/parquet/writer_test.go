package parquet

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/client"
	"github.com/goatnote-inc/pawl/measure"
)

var noon = time.Date(2026, 11, 15, 12, 0, 0, 123456000, time.UTC)

func seriesNo(id int64) client.Series {
	key := measure.CaseKey{Benchmark: "attention", Config: fmt.Sprintf("S%d", id), Implementation: "candidate"}
	return client.Series{ID: id, CaseKey: key, Name: key.Name(), Suite: "kernels", Testbed: 3, Lane: client.Main, Unit: "ns"}
}

func read(t testing.TB, data []byte) []Row {
	t.Helper()
	rows, err := parquet.Read[Row](bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// A file says of every point what is known of it, and null for what is not.
func TestPointsAsRows(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out, "kernels")
	cold := seriesNo(8)
	cold.Cache, cold.Metric, cold.Better, cold.Lane = measure.Cold, "allocs/op", measure.Higher, client.Fork
	whole := client.StoredPoint{
		At: noon, Report: 5, Commit: "c0ffee", Value: 1.5, Low: 1.25, High: 1.75, Spread: 0.5, Rounds: 12,
		Baseline: 2, Moved: true, Trust: measure.Checked, Verdict: "improvement",
	}
	bare := client.StoredPoint{At: noon.Add(time.Microsecond), Report: 6, Value: 3, Low: 3, High: 3, Trust: measure.TrustImported}
	for _, err := range []error{w.Write(seriesNo(7), []client.StoredPoint{whole, bare}), w.Write(cold, []client.StoredPoint{bare}), w.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	seven := Row{
		Series: 7, Suite: "kernels", Name: "attention/S7", Benchmark: "attention", Config: "S7", Cache: "hot", Implementation: "candidate",
		Testbed: 3, Lane: "main", Unit: "ns", Better: "lower",
	}
	first, second := seven, seven
	first.At, first.Report, first.Commit = noon.UnixMicro(), 5, new("c0ffee")
	first.Value, first.Low, first.High, first.Spread, first.Rounds = 1.5, 1.25, 1.75, 0.5, 12
	first.Baseline, first.Moved, first.Trust, first.Verdict = new(float32(2)), true, "checked", new("improvement")
	second.At, second.Report, second.Value, second.Low, second.High, second.Trust = noon.UnixMicro()+1, 6, 3, 3, 3, "imported"
	third := second
	third.Series, third.Name, third.Config, third.Cache, third.Metric = 8, "attention/S8", "S8", "cold", new("allocs/op")
	third.Better, third.Lane = "higher", "fork"
	if diff := cmp.Diff([]Row{first, second, third}, read(t, out.Bytes())); diff != "" {
		t.Error(diff)
	}
	f, err := parquet.OpenFile(bytes.NewReader(out.Bytes()), int64(out.Len()))
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{"schema": Schema, "project": "kernels"} {
		if got, _ := f.Lookup(key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
}

// What people see of the columns. Change it only by adding at the end.
func TestColumns(t *testing.T) {
	want, err := os.ReadFile("testdata/columns.txt")
	if got := parquet.SchemaOf(Row{}).String() + "\n"; err != nil || got != string(want) {
		t.Errorf("%v\n%s", err, cmp.Diff(string(want), got))
	}
}

// A project without points is a file without rows, and a file that was cut off is none.
func TestWholeOrNone(t *testing.T) {
	var out bytes.Buffer
	if err := NewWriter(&out, "kernels").Close(); err != nil {
		t.Fatal(err)
	}
	if rows := read(t, out.Bytes()); len(rows) != 0 {
		t.Errorf("%d rows", len(rows))
	}
	out.Reset()
	w := NewWriter(&out, "kernels")
	if err := w.Write(seriesNo(1), make([]client.StoredPoint, 10)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, 4, out.Len() / 2, out.Len() - 1} {
		if _, err := parquet.OpenFile(bytes.NewReader(out.Bytes()[:n]), int64(n)); err == nil {
			t.Errorf("%d of %d bytes were taken for a file", n, out.Len())
		}
	}
}

// Points come out as they went in, in the same order, whatever the pieces were.
func TestAnyPointsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var out bytes.Buffer
		w := NewWriter(&out, "kernels")
		type numbers struct {
			Series, Report, At     int64
			Value, Low, High, Base float32
			Commit                 string
		}
		var want, got []numbers
		for id := int64(1); id <= int64(rapid.IntRange(0, 4).Draw(t, "series")); id++ {
			points := make([]client.StoredPoint, rapid.IntRange(0, 30).Draw(t, "points"))
			for i := range points {
				p := &points[i]
				p.At = time.UnixMicro(rapid.Int64Range(-1e15, 1e16).Draw(t, "at"))
				p.Report = rapid.Int64Range(1, 1<<40).Draw(t, "report")
				p.Value, p.Low, p.High = rapid.Float32().Draw(t, "value"), rapid.Float32().Draw(t, "low"), rapid.Float32().Draw(t, "high")
				p.Baseline, p.Commit = rapid.Float32().Draw(t, "baseline"), rapid.StringMatching(`[0-9a-f]{0,40}`).Draw(t, "commit")
				want = append(want, numbers{id, p.Report, p.At.UnixMicro(), p.Value, p.Low, p.High, p.Baseline, p.Commit})
			}
			if err := w.Write(seriesNo(id), points); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		rows, err := parquet.Read[Row](bytes.NewReader(out.Bytes()), int64(out.Len()))
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range rows {
			n := numbers{Series: r.Series, Report: r.Report, At: r.At, Value: r.Value, Low: r.Low, High: r.High}
			if r.Baseline != nil {
				n.Base = *r.Baseline
			}
			if r.Commit != nil {
				n.Commit = *r.Commit
			}
			got = append(got, n)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
	})
}

type full struct{ left int }

func (f *full) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errors.New("no space left")
	}
	return len(b), nil
}

// A disk that is full is an error, at the latest at the end.
func TestWriteFails(t *testing.T) {
	w := NewWriter(&full{left: 100}, "kernels")
	err := w.Write(seriesNo(1), make([]client.StoredPoint, 1000))
	if err = errors.Join(err, w.Close()); err == nil {
		t.Error("nobody noticed")
	}
}
