package page_test

import (
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/explain/diagnose"
	"github.com/goatnote-inc/pawl/internal/learn/gates"
	"github.com/goatnote-inc/pawl/internal/learn/page"
)

// images are where the docs show the trees.
var images = filepath.Join("..", "..", "..", "docs", "images")

// The pictures in the docs are what the data says: gates.yaml and the rules.
func TestTreesOfTheDocs(t *testing.T) {
	for name, got := range map[string]string{
		"gates-tree.svg":    page.Tree(gates.All()),
		"symptoms-tree.svg": page.Symptoms(diagnose.Rules()),
	} {
		path := filepath.Join(images, name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != got {
			t.Errorf("docs/images/%s is not what the data says: go test ./internal/learn/page -run TestTreesOfTheDocs -update draws it again", name)
		}
	}
}

// words are what a drawing says, in order.
func svgWords(t *testing.T, svg string) string {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	var b strings.Builder
	inText := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return b.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			inText = e.Name.Local == "text"
		case xml.CharData:
			if inText {
				b.WriteString(string(e) + " ")
			}
		case xml.EndElement:
			inText = false
		}
	}
}

// Every gate, symptom and fix is in its picture, in full, with no part of a placeholder left.
func TestTreesAreWhole(t *testing.T) {
	tree, symptoms := svgWords(t, page.Tree(gates.All())), svgWords(t, page.Symptoms(diagnose.Rules()))
	n := 0
	for _, p := range gates.All().Phases {
		for _, g := range p.Gates {
			n++
			if !strings.Contains(tree, strings.TrimSuffix(g.Title, ".")+"?") {
				t.Errorf("gate %s is not in the tree", g.ID)
			}
		}
	}
	if n < 15 {
		t.Errorf("%d gates", n)
	}
	for _, r := range diagnose.Rules().All() {
		if !strings.Contains(symptoms, r.Title) {
			t.Errorf("rule %s is not in the tree", r.ID)
		}
	}
	for name, words := range map[string]string{"gates": tree, "symptoms": symptoms} {
		if strings.ContainsAny(words, "{}[]|") || strings.Contains(words, "…") {
			at := strings.IndexAny(words, "{}[]|…")
			t.Errorf("%s: something is left of a placeholder, or cut off: %q", name, words[max(0, at-80):min(len(words), at+80)])
		}
		if at := strings.Index(words, " ,"); at >= 0 {
			t.Errorf("%s: a space is left of a placeholder: %q", name, words[max(0, at-80):min(len(words), at+80)])
		}
	}
}
