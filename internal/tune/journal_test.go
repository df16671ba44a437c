package tune

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/tune/space"
)

func header() Header {
	s := Space{Parameters: []space.Parameter{{Name: "BLOCK", Values: []any{16.0, 32.0}, Default: 16.0}, {Name: "mode", Values: []any{"a", "b"}, Default: "a"}}, Points: 4}
	return Header{Case: "sum/N64", Suite: "sha256:1", Device: gpu.Identity{Name: "CPU"}, Commit: "abc", Space: s.WithDigest(), Strategy: "auto", Seed: 7}
}

func evaluations() []Evaluation {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	list := []Evaluation{
		{Point: map[string]any{"BLOCK": 16.0, "mode": "a"}, Build: 0.5, Measure: 0.2, At: at},
		{Point: map[string]any{"BLOCK": 32.0, "mode": "a"}, Status: CompileError, Build: 0.1, Why: "k.c:3: no", At: at},
		{Point: map[string]any{"BLOCK": 16.0, "mode": "b"}, Measure: 1, At: at},
	}
	list[0].Measured([]float64{3, 1, 2}, false)
	list[2].Measured([]float64{30, 31}, true)
	for i := range list {
		list[i].N = i
	}
	return list
}

func write(t *testing.T, path string) []Evaluation {
	t.Helper()
	j, err := Create(path, header())
	if err != nil {
		t.Fatal(err)
	}
	list := evaluations()
	for i := range list {
		if err := j.Append(&list[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return list
}

func TestJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tuning", "journal.jsonl")
	list := write(t, path)
	h, got, err := Load(path)
	want := header()
	want.Format = Format
	if diff := cmp.Diff(list, got); diff != "" || err != nil || cmp.Diff(want, h) != "" {
		t.Fatalf("%v %s %s", err, diff, cmp.Diff(want, h))
	}
	if _, err := Create(path, header()); !errors.Is(err, fs.ErrExist) {
		t.Errorf("a journal was replaced: %v", err)
	}
	j, got, err := Resume(path, header())
	if err != nil || len(got) != 3 {
		t.Fatal(err, got)
	}
	defer j.Close()
	if _, _, err := Resume(path, header()); !errors.Is(err, ErrInUse) {
		t.Errorf("two write one journal: %v", err)
	}
	again := list[0]
	if err := j.Append(&again); err == nil || !strings.Contains(err.Error(), "every point is evaluated once") {
		t.Errorf("a point was evaluated twice: %v", err)
	}
	whole := map[string]any{"BLOCK": 16, "mode": "a"} // the same in another type
	if err := j.Append(&Evaluation{Point: whole, Status: Pruned}); err == nil {
		t.Error("a point was evaluated twice")
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".journal-*")); left != nil {
		t.Errorf("%v were left behind", left)
	}
}

// Whatever a kill left of the last line: what was whole before is there, and the journal goes on.
func TestTornJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	list := write(t, path)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := bytes.IndexByte(whole, '\n') + 1
	for cut := first; cut < len(whole); cut++ {
		if err := os.WriteFile(path, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		kept := bytes.Count(whole[first:cut], []byte("\n"))
		j, got, err := Resume(path, header())
		if err != nil || len(got) != kept {
			t.Fatalf("cut at %d: %d evaluations, want %d: %v", cut, len(got), kept, err)
		}
		for i := kept; i < len(list); i++ {
			if err := j.Append(&list[i]); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		if again, err := os.ReadFile(path); err != nil || !bytes.Equal(again, whole) {
			t.Fatalf("cut at %d: the journal differs from one that was never cut: %v", cut, err)
		}
	}
}

func TestResumeRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.jsonl")
	write(t, path)
	for want, change := range map[string]func(*Header){
		"its case is sum/N64, but now it is sum/N128":       func(h *Header) { h.Case = "sum/N128" },
		"its commit is abc, but now it is abc with changes": func(h *Header) { h.Dirty = true },
		"its suite is":           func(h *Header) { h.Suite = "sha256:2" },
		"its device is CPU":      func(h *Header) { h.Device.Name = "NVIDIA L4" },
		"its timer is not known": func(h *Header) { h.Timer = "cpu" },
		"its space is":           func(h *Header) { h.Space.Constraints = []string{"BLOCK > 16"}; h.Space = h.Space.WithDigest() },
	} {
		h := header()
		change(&h)
		_, _, err := Resume(path, h)
		if e, ok := errors.AsType[*MismatchError](err); !ok || !strings.Contains(e.Error(), want) || !strings.Contains(e.Error(), "--warm-start") {
			t.Errorf("%v, want %s", err, want)
		}
	}
	h := header()
	h.Seed, h.Strategy, h.Pawl = 9, "random", "2"
	j, _, err := Resume(path, h)
	if err != nil {
		t.Fatal(err)
	}
	j.Close()
}

func TestAppendRefuses(t *testing.T) {
	j, err := Create(filepath.Join(t.TempDir(), "j"), header())
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	for want, e := range map[string]Evaluation{
		"unknown status \"good\"":          {Point: map[string]any{"a": 1.0}, Status: "good"},
		"0 values":                         {Status: Pruned},
		"0 samples":                        {Point: map[string]any{"a": 1.0}, Status: OK},
		"is not a number, text or boolean": {Point: map[string]any{"a": []any{1}}, Status: Pruned},
		"is not a valid time":              {Point: map[string]any{"a": 1.0}, Status: Pruned, Build: -1},
	} {
		if err := j.Append(&e); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", e, err, want)
		}
	}
}

func TestRanked(t *testing.T) {
	list := evaluations()
	fast := Evaluation{N: 3, Point: map[string]any{"x": 1.0}}
	fast.Measured([]float64{1}, true)
	ranked := Ranked(append(list, fast))
	if len(ranked) != 3 || ranked[0].N != 0 || ranked[1].N != 3 || ranked[2].N != 2 {
		t.Errorf("%+v", ranked)
	}
	if _, ok := Best(list[1:2]); ok {
		t.Error("a point that does not compile is the best")
	}
}

// Whatever is read is either refused or a journal: points once, numbered, times that are times.
func FuzzRead(f *testing.F) {
	var b bytes.Buffer
	h := header()
	h.Format = Format
	for _, record := range []any{h, evaluations()[0], evaluations()[1]} {
		line, err := json.Marshal(record)
		if err != nil {
			f.Fatal(err)
		}
		b.Write(append(line, '\n'))
	}
	f.Add(b.Bytes())
	f.Add(b.Bytes()[:b.Len()-5])
	f.Add([]byte(`{"format":"pawl.tuning/v1","case":"a","space":{"parameters":[{}]}}` + "\n" + `{"n":0,"point":{"a":{}},"status":"ok"}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, list, err := Read(bytes.NewReader(data))
		if err != nil {
			return
		}
		if h.Format != Format {
			t.Fatalf("%+v", h)
		}
		seen := map[string]bool{}
		for i, e := range list {
			if e.N != i || seen[Key(e.Point)] || e.check() != nil {
				t.Fatalf("%+v", e)
			}
			seen[Key(e.Point)] = true
		}
		Ranked(list)
	})
}
