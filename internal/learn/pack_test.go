package learn

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/learn/keep"
	"github.com/goatnote-inc/pawl/internal/learn/keep/keeptest"
)

// Every field of a tale comes back: a field that is added and not packed fails here.
func TestPackHasEveryField(t *testing.T) {
	var full Tale
	keeptest.Fill(&full)
	zero := Tale{Build: new(0.0), Gain: new(0.0)} // 0 is not "never"
	zero.Began = full.Began
	for _, want := range []Tale{full, zero} {
		var p keep.Pack
		packTale(&p, &want)
		var got Tale
		if err := p.Open(func(u *keep.Unpack) { unpackTale(u, &got) }); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	}
}

func FuzzUnpack(f *testing.F) {
	var t Tale
	keeptest.Fill(&t)
	var p keep.Pack
	packTale(&p, &t)
	keeptest.Fuzz(f, p, packTale, unpackTale)
}
