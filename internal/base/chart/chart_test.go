package chart

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image/png"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestScale_Ticks(t *testing.T) {
	for _, tt := range []struct {
		scale Scale
		n     int
		want  []float64
	}{
		{Scale{Low: 0, High: 10}, 5, []float64{0, 2, 4, 6, 8, 10}},
		{Scale{Low: 3, High: 3}, 5, []float64{3}},
		{Scale{Low: 0.9, High: 60, Log: true}, 4, []float64{1, 2, 5, 10, 20, 50}},
		{Scale{Low: 1, High: 1e4, Log: true}, 3, []float64{1, 10, 100, 1e3, 1e4}},
		{Scale{Low: 1, High: 1e6, Log: true}, 2, []float64{1, 100, 1e4, 1e6}},
	} {
		if diff := cmp.Diff(tt.want, tt.scale.Ticks(tt.n)); diff != "" {
			t.Errorf("%+v: -want +got:\n%s", tt.scale, diff)
		}
	}
}

func TestScale_Positions(t *testing.T) {
	linear, logarithmic := Scale{Low: 0, High: 10, From: 100, To: 0}, Scale{Low: 1, High: 100, From: 0, To: 10, Log: true}
	for _, tt := range []struct{ got, want float64 }{
		{linear.At(2.5), 75},
		{linear.At(20), -100},
		{linear.Within(20), 0},
		{linear.Within(-1), 100},
		{logarithmic.At(10), 5},
		{logarithmic.Within(0), 0},
		{logarithmic.Within(1e9), 10},
	} {
		if math.Abs(tt.got-tt.want) > 1e-9 {
			t.Errorf("at %v, want %v", tt.got, tt.want)
		}
	}
}

func TestTickTexts_OneUnitForAll(t *testing.T) {
	texts, unit := TickTexts([]float64{0, 500, 1000, 1500}, "ns")
	if diff := cmp.Diff([]string{"0.0", "0.5", "1.0", "1.5"}, texts); diff != "" || unit != "us" {
		t.Errorf("%s: %s", unit, diff)
	}
}

// Whatever is drawn and written, the file is well formed and the image has its size.
func TestDrawing_OfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number, text := rapid.Float64(), rapid.String().Draw(t, "text")
		at := func() Point { return At(number.Draw(t, "x"), number.Draw(t, "y")) }
		part := New(100, 50)
		part.Line(Ink, 1.5, at(), at(), at())
		part.Dashes(Soft, 1, at(), At(3, 4))
		part.Area(Bad, at(), at(), at())
		part.LightBar(Good, 1, 2, number.Draw(t, "width"), 4)
		part.Dot(Now, at(), 3, true)
		part.Arrow(Base, at(), at())
		part.Write(Ink, At(1, 2), Label{Text: text, Angle: 30, Most: 40})
		part.PrintLines(Ink, At(1, 2), 12, Lines(SmallText, text, 80, 2), Label{Align: End, Mono: true})
		d := New(120, 60)
		d.Include(part, 10, 5)
		file := d.SVG(text, text)
		for x := xml.NewDecoder(strings.NewReader(file)); ; {
			if _, err := x.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%v in %s", err, file)
			}
		}
		var b bytes.Buffer
		if err := d.PNG(&b); err != nil {
			t.Fatal(err)
		}
		if c, err := png.DecodeConfig(&b); err != nil || c.Width != 240 || c.Height != 120 {
			t.Fatalf("%v %v", c, err)
		}
	})
}
