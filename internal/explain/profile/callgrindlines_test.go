package profile_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/goatnote-inc/pawl/internal/explain/profile"
)

// Lines are relative to the one before, also to that of a call, whose costs belong to other lines.
func TestCallgrindLines(t *testing.T) {
	const text = `# callgrind format
creator: callgrind-3.19.0
positions: line
events: Ir Dr
fl=(1) kernel.c
fn=(1) axpy
10 5 1
+2 40
cfi=(2) math.h
cfn=(2) root
calls=4 3
* 400
-1 5
fi=(2)
3 20
fe=(1)
12 10
fl=(2)
fn=(2)
3 20
fl=(3) ???
fn=(3) main
0 7
totals: 100 1
`
	got, err := profile.CallgrindLines(strings.NewReader(text), 3)
	want := []profile.HotLine{
		{SourceLine: profile.SourceLine{File: "kernel.c", Line: 12}, Share: 0.5},
		{SourceLine: profile.SourceLine{File: "math.h", Line: 3}, Share: 0.4},
		{SourceLine: profile.SourceLine{File: "kernel.c", Line: 10}, Share: 0.05},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v: %s", err, diff)
	}
}
