package measure_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/goatnote-inc/pawl/measure"
)

func TestCountMix(t *testing.T) {
	load := func(at uint64, bytes int) measure.Instruction {
		return measure.Instruction{At: at, Class: measure.OpLoadGlobal, Bytes: bytes}
	}
	jump := func(at, to uint64) measure.Instruction {
		return measure.Instruction{At: at, Class: measure.OpBranch, Jumps: true, To: to}
	}
	for name, c := range map[string]struct {
		code []measure.Instruction
		want measure.Mix
	}{
		"a loop around one load": {
			[]measure.Instruction{load(0, 16), load(16, 4), load(32, 4), jump(48, 32), load(64, 4)},
			measure.Mix{Instructions: 5, InLoops: 2, Counts: []measure.MixCount{
				{Class: "branch", Count: 1, InLoops: 1},
				{Class: "load global", Bytes: 4, Count: 3, InLoops: 1},
				{Class: "load global", Bytes: 16, Count: 1},
			}},
		},
		"a jump forward and one to itself are no loops": {
			[]measure.Instruction{jump(0, 16), load(16, 4), jump(32, 32)},
			measure.Mix{Instructions: 3, Counts: []measure.MixCount{{Class: "branch", Count: 2}, {Class: "load global", Bytes: 4, Count: 1}}},
		},
		"a loop inside a loop counts once": {
			[]measure.Instruction{load(0, 4), load(16, 4), jump(32, 16), jump(48, 0), load(64, 4)},
			measure.Mix{Instructions: 5, InLoops: 4, Counts: []measure.MixCount{
				{Class: "branch", Count: 2, InLoops: 2}, {Class: "load global", Bytes: 4, Count: 3, InLoops: 2},
			}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, measure.CountMix(c.code)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Whatever the code, no instruction is lost, and adding two functions adds their counts.
func TestMixAddsUp(t *testing.T) {
	code := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) measure.Instruction {
		return measure.Instruction{
			At: rapid.Uint64Range(0, 64).Draw(t, "at"), Class: rapid.SampledFrom([]string{"load", "store", "branch"}).Draw(t, "class"),
			Bytes: rapid.SampledFrom([]int{0, 4, 16}).Draw(t, "bytes"), Jumps: rapid.Bool().Draw(t, "jumps"), To: rapid.Uint64Range(0, 64).Draw(t, "to"),
		}
	}), 0, 40)
	rapid.Check(t, func(t *rapid.T) {
		a, b := measure.CountMix(code.Draw(t, "a")), measure.CountMix(code.Draw(t, "b"))
		for _, m := range []measure.Mix{a, b, a.Add(b)} {
			count, in := 0, 0
			for _, c := range m.Counts {
				count, in = count+c.Count, in+c.InLoops
			}
			if count != m.Instructions || in != m.InLoops || in > count {
				t.Fatalf("%+v", m)
			}
		}
		if diff := cmp.Diff(a.Add(b), b.Add(a)); diff != "" {
			t.Fatal(diff)
		}
	})
}
