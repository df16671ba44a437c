package lab

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/golden"
	"github.com/goatnote-inc/pawl/ratchet"
)

// figures is a report with a few rows of everything, made up.
func figures() *Report {
	r := &Report{Schema: Schema, Seed: 1, Policy: ratchet.Default(), Fit: &Fit{Recordings: 11, Lag1: 0.79, Spread: 0.05, Session: 0.052}, Configurations: 119_502}
	for _, m := range Methods(r.Policy)[:4] {
		r.Methods = append(r.Methods, Described{m.Name, m.Rule})
		add := func(corpus, note string, shape Shape, spread, effect float64, t Tally) {
			r.Rows = append(r.Rows, Row{corpus, m.Name, note, shape, spread, effect, t})
		}
		add(Recorded, "", "", 0, 0, Tally{22, 0, 0, 2, 20, 22})
		add(Several, "", "", 0, 0, Tally{44, 0, 0, 4, 40, 50})
		for _, effect := range []float64{0, 0.04, 0.06} {
			count := int(effect / 0.06 * 20_000)
			t := Tally{20_000, count, 0, 20_000 - count, 0, 180_000}
			add(Generated, "", Gaussian, typical, effect, t)
			add(Spaces, "", Gaussian, 0.008, effect, t)
			add(Stress, "a strange <machine>", Gaussian, typical, effect, t)
		}
	}
	for _, spread := range []float64{typical, noisy} {
		for effect, t := range map[float64]Tally{0: {1000, 1, 0, 998, 1, 9000}, 0.03: {1000, 200, 0, 50, 750, 60_000}, 0.05: {1000, 990, 0, 5, 5, 20_000}} {
			r.Rows = append(r.Rows, Row{Machines, onKnown, "resembles the round before by 0.6", Gaussian, spread, effect, t})
		}
	}
	r.Rows = append(r.Rows, Row{Suite, "pawl", "27 cases", T3, typical, 0, Tally{10_000, 12, 0, 9_900, 88, 90_000}})
	r.Curses = []Curse{{"rebuilt", Gaussian, 20_000, 0, -0.0011, 0.0001, Tally{10_000, 3, 0, 9_997, 0, 84_000}}}
	r.Speed = &Speed{100, 16, 100, 0.25}
	r.Claims = claims(r)
	return r
}

func TestPage(t *testing.T) {
	checkPage(t, "testdata/page.md", figures())
}

// checkPage compares a page with the one in a file.
func checkPage(t *testing.T, path string, page interface{ Markdown(io.Writer) error }) {
	t.Helper()
	var b bytes.Buffer
	if err := page.Markdown(&b); err != nil {
		t.Fatal(err)
	}
	golden.File(t, path, b.String())
}

func TestClaims(t *testing.T) {
	r := figures()
	holds := map[string]bool{}
	for _, c := range r.Claims {
		holds[c.Text] = c.Holds
	}
	for text, want := range map[string]bool{
		"false claims on recorded same-code pairs (22)":                                   true,
		"spread 1.5 %, Gaussian: false regression":                                        true,
		"spread 1.5 %, Gaussian: 4 % slower found":                                        false, // 67 %
		"spread 1.5 %, Gaussian: 6 % slower found":                                        true,
		"any false alarm in a run of 27 cases, t3":                                        true,
		"resembles the round before by 0.6, 1.5 %, pawl, testbed known: false claims":     true, // 0.1 %
		"resembles the round before by 0.6, 2.5 %, pawl, testbed known: 5 % slower found": true,
		"after 200 runs, baseline rebuilt, Gaussian: bias":                                true,
		"verdict on 100 cases, 2 sides, 16 rounds, 100 samples":                           false, // 0.25 s
		"spread 1.5 %, Gaussian: rounds a side on same code":                              true,
		"after 200 runs, baseline rebuilt, Gaussian: false failures":                      true,
	} {
		if got, ok := holds[text]; !ok || got != want {
			t.Errorf("%s: holds %v (there %v), want %v", text, got, ok, want)
		}
	}
	if r.Broken() != 2 {
		t.Errorf("%d promises are broken, want 2", r.Broken())
	}
	few := Claim{Limit: 0.001, Value: 0.0025}
	few.Rate = new(NewRate(1, 400))
	if few.judge(true); !few.Holds {
		t.Error("one of 400 refutes a thousandth")
	}
	if few.judge(false); few.Holds {
		t.Error("a quarter of a percent is within a thousandth")
	}
}

// A browser draws what is well formed, with every line in it.
func TestPlots(t *testing.T) {
	r := figures()
	r.Methods[1].Name = "<stored> & others"
	for _, p := range r.Plots() {
		text := p.SVG()
		if n := strings.Count(text, `<path class="line`) / 2; n != len(p.Lines) || n == 0 {
			t.Errorf("%s: %d lines drawn of %d", p.Name, n, len(p.Lines))
		}
		if strings.Contains(text, "NaN") || strings.Contains(text, "Inf") {
			t.Errorf("%s: a point is no number", p.Name)
		}
		for d := xml.NewDecoder(strings.NewReader(text)); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", p.Name, err)
			}
		}
	}
}
