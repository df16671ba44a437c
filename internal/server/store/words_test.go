package store

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestWordsOf(t *testing.T) {
	for _, c := range []struct {
		name string
		in   []string
		want []string
	}{
		{"runs of letters and digits", []string{"flash_attn/rows=4096,fp"}, []string{"4096", "attn", "flash", "fp", "rows"}},
		{"digits after letters start a word", []string{"hdim128"}, []string{"128", "hdim128"}},
		{"capitals after small letters start a word", []string{"flashAttnFWD"}, []string{"attnfwd", "flashattnfwd", "fwd"}},
		{"each word once", []string{"a/a", "A"}, []string{"a"}},
		{"other letters are parts of words", []string{"größe/Ü"}, []string{"größe", "Ü"}},
		{"nothing but separators", []string{" \t%_\\", ""}, nil},
		{"half a character separates", []string{"ab\xffcd"}, []string{"ab", "cd"}},
	} {
		if diff := cmp.Diff(c.want, wordsOf(c.in...)); diff != "" && len(c.want)+len(wordsOf(c.in...)) > 0 {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

func TestWordsOf_AreBounded(t *testing.T) {
	var long strings.Builder
	for i := range 1000 {
		long.WriteString(string(rune('a'+i%26)) + string(rune('a'+i/26)) + strings.Repeat("ö", 30) + " ")
	}
	list := wordsOf(long.String(), strings.Repeat("a1", 500))
	if len(list) != seriesWords {
		t.Errorf("%d words, want %d", len(list), seriesWords)
	}
	for _, w := range list {
		if len(w) > wordBytes || !utf8.ValidString(w) {
			t.Errorf("%q has %d bytes", w, len(w))
		}
	}
	if got := terms(strings.Repeat("a b c d e f g h i j ", 100)); len(got) != searchTerms {
		t.Errorf("%q", got)
	}
}

// A pattern is made of a term without escapes.
func FuzzTerms(f *testing.F) {
	f.Add("matmul 100%_\\")
	f.Fuzz(func(t *testing.T, text string) {
		for _, term := range terms(text) {
			if term == "" || len(term) > wordBytes || strings.ContainsAny(term, `%_\ `) || !utf8.ValidString(term) {
				t.Errorf("%q has the term %q", text, term)
			}
		}
	})
}
