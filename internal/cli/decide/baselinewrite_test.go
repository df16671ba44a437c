package decide

import (
	"testing"

	"github.com/goatnote-inc/pawl/gpu"
	"github.com/goatnote-inc/pawl/internal/kernel/suite"
	"github.com/goatnote-inc/pawl/measure"
)

func TestTimerOf(t *testing.T) {
	for _, test := range []struct {
		timer string
		kind  gpu.Kind
		want  measure.Timer
	}{
		{"auto", gpu.NVIDIA, measure.TimerDevice},
		{"auto", gpu.CPU, measure.TimerWall},
		{"cpu", gpu.CPU, measure.TimerCPU},
		{"wall", gpu.NVIDIA, measure.TimerWall},
	} {
		s, err := suite.Parse("pawl.yaml", []byte("version: 1\nharness: {command: ./h}\nmeasure: {timer: "+test.timer+"}\nbenchmarks: {sum: {matrix: {N: [1]}}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		if got := timerOf(s, "sum", test.kind); got != test.want {
			t.Errorf("timer %s on %s: %s, want %s", test.timer, test.kind, got, test.want)
		}
	}
}
