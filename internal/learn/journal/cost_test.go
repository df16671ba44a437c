package journal_test

import (
	"fmt"
	"testing"

	"github.com/goatnote-inc/pawl/internal/learn/journal"
)

// BenchmarkAppend is one entry in a session that has a hundred, as a command adds it: the
// journal is read, and one line is written and synchronised.
func BenchmarkAppend(b *testing.B) {
	f := journal.Folder{Root: b.TempDir()}
	w := start(b, f)
	for i := range 100 {
		if err := w.Append(note(fmt.Sprint("note ", i))); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		w, err := f.Open()
		if err == nil {
			e := bench("a", 100)
			e.Actor, e.Time = me, noon
			err = w.Append(e)
		}
		if err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if len(w.Session().Entries) > 200 {
			if err := w.End(journal.Ended{Outcome: journal.Nothing}, me); err != nil {
				b.Fatal(err)
			}
			start(b, f)
		}
		b.StartTimer()
	}
}

// BenchmarkChanged is the comparison of a file of some thousand lines.
func BenchmarkChanged(b *testing.B) {
	var text string
	for i := range 100 {
		text += fmt.Sprintf("#define N%d %d\n%s", i, i, kernelC)
	}
	for b.Loop() {
		changes("k.cu", text, text+"\n#define M 1\n")
	}
}
