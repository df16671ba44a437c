package devicetest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// What a test scripts is what it reads back: otherwise Update would lose fields.
func TestStateRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(Unsupported, 5000)
		want := State{
			Init: rapid.IntRange(0, 20).Draw(t, "init"), Driver: "1.2", CUDA: 13000,
			Denied: rapid.Bool().Draw(t, "denied"), NoTDP: rapid.Bool().Draw(t, "no_tdp"),
			PauseMicros: rapid.IntRange(0, 9).Draw(t, "pause"), Die: rapid.IntRange(0, 9).Draw(t, "die"),
		}
		if rapid.Bool().Draw(t, "fail") {
			want.Fail = map[string]int{"nvmlInit_v2": UnknownError}
		}
		for range rapid.IntRange(0, 3).Draw(t, "gpus") {
			g := A100()
			for name, field := range g.numbers() {
				*field = n.Draw(t, name)
			}
			g.ReasonsAt = At{N: rapid.IntRange(1, 9).Draw(t, "at"), Bits: rapid.IntRange(1, 511).Draw(t, "bits")}
			for range rapid.IntRange(0, 2).Draw(t, "processes") {
				g.Processes = append(g.Processes, Process{PID: 7, MemoryBytes: 1 << 40})
			}
			want.GPUs = append(want.GPUs, g)
		}
		if diff := cmp.Diff(want, decode(want.encode())); diff != "" {
			t.Fatalf("state (-want +got):\n%s", diff)
		}
	})
}
