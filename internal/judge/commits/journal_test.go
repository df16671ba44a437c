package commits

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results", "steps.jsonl")
	q := Question{Good: "a", Bad: "b", Suite: "pawl.yaml"}
	steps := []Step{{Commit: "b", Base: "a", Answer: Slower, Rounds: 8, Slower: []Case{{"matmul", 0.05, 0.04, 0.06}}}, {Commit: "c", Base: "a", Answer: Fine, Rounds: 6}}
	open := func(q Question) (*Journal, []Step) {
		t.Helper()
		j, known, err := OpenJournal(path, q)
		if err != nil {
			t.Fatal(err)
		}
		return j, known
	}
	j, known := open(q)
	if len(known) != 0 {
		t.Errorf("a new journal has steps %v", known)
	}
	for _, s := range steps {
		if err := j.Add(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(false); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// Wherever it is cut, whole steps are kept.
	for cut := range text {
		if err := os.WriteFile(path, text[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		j, known := open(q)
		for i, s := range known {
			if !reflect.DeepEqual(s, steps[i]) {
				t.Errorf("cut at %d: step %d is %+v", cut, i, s)
			}
		}
		if err := j.Add(steps[0]); err != nil {
			t.Fatal(err)
		}
		if err := j.Close(false); err != nil {
			t.Fatal(err)
		}
		j, again := open(q)
		if len(again) != len(known)+1 {
			t.Errorf("cut at %d: %d steps after one was added to %d", cut, len(again), len(known))
		}
		if err := j.Close(false); err != nil {
			t.Fatal(err)
		}
	}
	other := q
	other.Cases = "softmax"
	if j, known = open(other); len(known) != 0 {
		t.Errorf("another question got the steps %v", known)
	}
	if err := j.Close(true); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !os.IsNotExist(err) {
		t.Errorf("a finished journal is still there: %v", err)
	}
}

func TestJournal_RefusesWhatIsNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "steps.jsonl")
	if err := os.Mkdir(path, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, _, err := OpenJournal(path, Question{}); err == nil {
		t.Error("a folder was taken for a journal")
	}
}
