package journal_test

import (
	"syscall"
	"testing"
	"time"
)

// perOp reports the processor time of an operation too: a machine that others share shows
// in the other figure.
func perOp(b *testing.B) func() {
	b.Helper()
	began := cpuTime(b)
	return func() { b.ReportMetric(float64((cpuTime(b)-began)/time.Duration(b.N))/1e6, "cpu-ms/op") }
}

func cpuTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
