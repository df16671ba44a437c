package learn

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
	"github.com/goatnote-inc/pawl/internal/report"
)

var update = flag.Bool("update", false, "write golden files anew")

// six is the story of the six real sessions.
func six(t *testing.T) *Story {
	t.Helper()
	files, err := filepath.Glob("testdata/six/*.jsonl")
	if err != nil || len(files) != 6 {
		t.Fatalf("%d sessions, %v", len(files), err)
	}
	var tales []Tale
	for _, file := range files {
		s, err := journal.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		tales = append(tales, Tell(s, time.Date(2027, 1, 1, 0, 0, 0, 0, time.UTC)))
	}
	return Tie(tales)
}

// The report over the six sessions is what people read of them.
func TestSixSessions(t *testing.T) {
	story := six(t)
	var text, md, page bytes.Buffer
	if err := story.Terminal(&text, report.Style{}); err != nil {
		t.Fatal(err)
	}
	if err := story.Markdown(&md, "sessions.svg"); err != nil {
		t.Fatal(err)
	}
	if err := story.HTML(&page); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/six.txt", text.Bytes())
	golden(t, "testdata/six.md", md.Bytes())
	golden(t, "testdata/six.html", page.Bytes())
	golden(t, "../../docs/images/learn-six.svg", []byte(story.Picture().SVG("Six sessions on an attention kernel", story.Headline())))
}

func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), string(got)); d != "" {
		t.Errorf("%s is not as it was (-update writes it anew):\n%s", path, d)
	}
}
