package journal

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/learn/keep"
	"github.com/goatnote-inc/pawl/internal/learn/keep/keeptest"
)

// Every field of a summary comes back: a field that is added and not packed fails here.
func TestPackHasEveryField(t *testing.T) {
	var s Summary
	keeptest.Fill(&s)
	s.Path = "" // not kept
	var p keep.Pack
	packSummary(&p, &s)
	var got Summary
	if err := p.Open(func(u *keep.Unpack) { unpackSummary(u, &got) }); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s, got); diff != "" {
		t.Error(diff)
	}
}

func FuzzUnpack(f *testing.F) {
	var s Summary
	keeptest.Fill(&s)
	var p keep.Pack
	packSummary(&p, &s)
	keeptest.Fuzz(f, p, packSummary, unpackSummary)
}
