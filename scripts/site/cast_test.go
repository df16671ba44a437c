package main

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/golden"
)

// The picture of the demo is drawn from its recording. go test ./scripts/site -update writes it.
func TestCast_PictureIsCurrent(t *testing.T) {
	images := filepath.Join("..", "..", "docs", "images")
	cast, err := os.ReadFile(filepath.Join(images, "demo.cast"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := castSVG(cast, "A recording of pawl demo: a regression is found, explained and fixed")
	if err != nil {
		t.Fatal(err)
	}
	golden.File(t, filepath.Join(images, "demo.svg"), got)
}

func TestCastLines_ShortenPauses(t *testing.T) {
	lines, at, err := castLines([]byte("{\"version\": 2}\n[0, \"o\", \"a\\r\\n\"]\n[60, \"o\", \"b\\r\\n\"]\n[60.5, \"o\", \"c\\r\\n\"]\n"))
	if err != nil || strings.Join(lines, "") != "abc" || at[1] != castPause || at[2] != castPause+0.5 {
		t.Errorf("%q at %v: %v", lines, at, err)
	}
	if _, _, err := castLines([]byte("{}\n")); err == nil {
		t.Error("a file that is no recording is read")
	}
}

// Pictures say in words what they show, and are legible on light and dark pages.
func TestDiagrams_HaveWordsAndTwoPalettes(t *testing.T) {
	for _, name := range []string{"wings", "round", "judge", "trust", "fleet"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", "images", name+".svg"))
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`role="img"`, `aria-label="`, "prefers-color-scheme: dark"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s.svg has no %s", name, want)
			}
		}
		for d := xml.NewDecoder(strings.NewReader(string(text))); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("%s.svg: %v", name, err)
				break
			}
		}
	}
}
