package lesson

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// library is a folder of a thousand lessons, the outcomes of ten thousand sessions, and what
// is known of a kernel.
func library(tb testing.TB) (Folder, []Outcome, Facts) {
	tb.Helper()
	f := Folder{Root: tb.TempDir(), Cache: tb.TempDir()}
	if err := os.MkdirAll(filepath.Join(f.Root, Dir), 0o750); err != nil {
		tb.Fatal(err)
	}
	asks := []string{"bank_conflict_pct > %d", "dram_pct < %d and sm_pct < 50", "registers >= %d and spill_pct >= 1", "changed > 1 and minutes > %d"}
	var names []string
	for i := range 1000 {
		l := example(fmt.Sprintf("Lesson %d of many", i))
		l.Symptom = fmt.Sprintf(asks[i%len(asks)], i%100)
		l.Cause = "A cause of the usual length, which says in a sentence or two what happens on the device and why it takes the time that it takes."
		l.Fix = "What to do about it, with a hint of how far to go, and what to look at afterwards so that nothing else gets worse by it."
		l.Tests = []Test{{Name: "an example", Facts: map[string]float64{"dram_pct": 99}}}
		text, err := Write(l)
		if err != nil {
			tb.Fatal(err)
		}
		name := Name(l.Title, text)
		if err := os.WriteFile(filepath.Join(f.Root, Dir, name+".md"), text, 0o600); err != nil {
			tb.Fatal(err)
		}
		names = append(names, name)
	}
	var list []Outcome
	for s := range 10000 {
		for i := range 3 {
			list = append(list, Outcome{Lesson: names[(s*7+i)%len(names)], Session: fmt.Sprint(s), Gain: float64(s%40)/100 - 0.1, Error: 0.03})
		}
	}
	facts := map[string]float64{"bank_conflict_pct": 40, "dram_pct": 30, "sm_pct": 20, "registers": 80, "spill_pct": 3, "changed": 2, "minutes": 50}
	return f, list, Facts{Numbers: facts, GPU: "sm_89", Kernel: "attention"}
}

// A thousand lessons and ten thousand sessions answer. How fast is for the benchmarks to say.
func TestManyLessons(t *testing.T) {
	f, outcomes, facts := library(t)
	b, err := f.Read()
	if err != nil {
		t.Fatal(err)
	}
	b.Learn(outcomes)
	if n := len(b.All(facts)); n != 1000+len(Starter()) {
		t.Errorf("%d lessons", n)
	}
	if len(b.Speaking(facts)) == 0 {
		t.Error("none speaks")
	}
}

// BenchmarkAnswer is what an answer costs when the lessons are read: 30,000 outcomes of ten
// thousand sessions, and all lessons matched and sorted.
func BenchmarkAnswer(b *testing.B) {
	f, outcomes, facts := library(b)
	for b.Loop() {
		b.StopTimer()
		book, err := f.Read()
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		book.Learn(outcomes)
		book.All(facts)
	}
}

// BenchmarkRead is what reading a thousand files costs, once a process, when a cache has what
// was read before.
func BenchmarkRead(b *testing.B) {
	f, _, _ := library(b)
	if _, err := f.Read(); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := f.Read(); err != nil {
			b.Fatal(err)
		}
	}
}
