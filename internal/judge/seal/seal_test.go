package seal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goatnote-inc/pawl/internal/base/testrun"
	"github.com/goatnote-inc/pawl/measure"
)

// sealedJournal writes a journal of so many rounds, and its seal. It has an open line, a line of cases and one line a
// round.
func sealedJournal(t *testing.T, rounds int) (path string) {
	t.Helper()
	t.Setenv("PAWL_CACHE", t.TempDir())
	path = filepath.Join(t.TempDir(), "current.journal")
	s, err := Create(path, Question{Tree: "t", Terms: "u"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.file.Close()
	j, err := measure.CreateJournal(path, measure.Header{ID: "x"}, s.Add)
	if err != nil {
		t.Fatal(err)
	}
	key := measure.CaseKey{Benchmark: "k", Implementation: measure.Candidate}
	if err := j.AddCases([]measure.Case{{CaseKey: key, Unit: "ns"}}); err != nil {
		t.Fatal(err)
	}
	for i := range rounds {
		round := measure.Round{Index: i, Seed: uint64(i)}
		if err := j.AddRound(round, []measure.Result{{Case: key, Round: measure.CaseRound{Samples: measure.Samples{float64(100 + i)}}}}); err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func linesOf(text []byte) []string { return slices.Collect(strings.Lines(string(text))) }

func TestReadPast(t *testing.T) {
	const rounds = 4
	forged := `{"record":"round","round":{"round":4,"seed":"4"},"results":[{"case":0,"data":{"round":4,"samples":[1]}}]}` + "\n"
	tests := []struct {
		name   string
		change func(lines []string) []string
		rounds int    // kept
		want   string // of the error
	}{
		{"as pawl wrote it", func(l []string) []string { return l }, 4, ""},
		{"a last line that is half written", func(l []string) []string { l[5] = l[5][:20]; return l }, 3, ""},
		{"a last line without its newline", func(l []string) []string { l[5] = l[5][:len(l[5])-1]; return l }, 3, ""},
		{"a last line of zeros", func(l []string) []string { l[5] = strings.Repeat("\x00", len(l[5])); return l }, 3, ""},
		{"a last line that was never written", func(l []string) []string { return l[:5] }, 3, ""},
		{"a forged round", func(l []string) []string { return append(l, forged) }, 0, "line 7"},
		{"a forged round without its newline", func(l []string) []string { return append(l, strings.TrimSpace(forged)) }, 0, "something follows line 6"},
		{"a forged last round", func(l []string) []string { return append(l[:5], forged) }, 0, "line 6"},
		{"swapped rounds", func(l []string) []string { l[3], l[4] = l[4], l[3]; return l }, 0, "line 4"},
		{"a changed sample", func(l []string) []string { l[2] = strings.Replace(l[2], "100", "900", 1); return l }, 0, "line 3"},
		{"a changed header", func(l []string) []string { l[0] = strings.Replace(l[0], `"x"`, `"y"`, 1); return l }, 0, "line 1"},
		{"a round taken out", func(l []string) []string { return append(l[:3], l[4:]...) }, 0, "line 4"},
		{"two rounds cut off", func(l []string) []string { return l[:4] }, 0, "ends after line 4"},
		{"nothing", func([]string) []string { return nil }, 0, "ends after line 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := sealedJournal(t, rounds)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.Join(tt.change(linesOf(text)), "")
			if err := os.WriteFile(path, []byte(changed), 0o644); err != nil {
				t.Fatal(err)
			}
			past, err := ReadPast(path)
			if tt.want != "" {
				if !errors.Is(err, ErrChanged) || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("%v, want %q", err, tt.want)
				}
				return
			}
			if err != nil || len(past.Rounds) != tt.rounds || past.Seal.Question != (Question{"t", "u"}) {
				t.Fatalf("%+v, %v, want %d rounds", past, err, tt.rounds)
			}
			if err := past.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestReadPast_WithoutASeal(t *testing.T) {
	path := sealedJournal(t, 1)
	if err := Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPast(path); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadPast(path); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
}

// A link or a pipe in place of the journal is refused, and not waited for.
func TestReadPast_RefusesWhatIsNoFile(t *testing.T) {
	path := sealedJournal(t, 1)
	other := path + ".other"
	if err := errors.Join(os.Rename(path, other), os.Symlink(other, path)); err != nil {
		t.Fatal(err)
	}
	if past, err := ReadPast(path); err == nil {
		t.Errorf("a link: %+v", past)
	}
}

// A journal that is cut at any byte of its last line, continued, and cut again, has all rounds that were whole, byte by
// byte as they were.
func TestReadPast_CutAndContinuedAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for range testrun.Times(10, 100) {
		path := sealedJournal(t, 1+rng.IntN(3))
		for n := range 4 {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			start := bytes.LastIndexByte(text[:len(text)-1], '\n') + 1
			text = text[:start+rng.IntN(len(text)-start+1)]
			if err := os.WriteFile(path, text, 0o644); err != nil {
				t.Fatal(err)
			}
			whole := text[:bytes.LastIndexByte(text, '\n')+1]
			past, err := ReadPast(path)
			if err != nil {
				t.Fatal(err)
			}
			if want := bytes.Count(whole, []byte(`{"record":"round"`)); len(past.Rounds) != want || past.Size != int64(len(whole)) {
				t.Fatalf("%d rounds in %d bytes, want %d in %d", len(past.Rounds), past.Size, want, len(whole))
			}
			j, err := measure.ResumeJournal(past.File, past.Size, past.Run, measure.Warning{Code: "resumed", Message: fmt.Sprint(n)}, past.Seal.Add)
			if err == nil {
				err = j.AddRound(measure.Round{Index: 10 + n}, nil)
			}
			if err = errors.Join(err, past.Close()); err != nil {
				t.Fatal(err)
			}
			after, err := os.ReadFile(path)
			if err != nil || !bytes.HasPrefix(after, whole) {
				t.Fatalf("the whole lines changed: %v", err)
			}
			run, err := measure.Load(path)
			if err != nil || run.End.State != measure.Interrupted || len(run.Warnings) != 1 || run.Warnings[0].Message != fmt.Sprint(n) {
				t.Fatalf("%+v, %v", run, err)
			}
		}
	}
}
