package stats_test

import (
	"fmt"

	"github.com/goatnote-inc/pawl/stats"
)

// Times of a kernel in microseconds, with one interrupted run.
var kernelTimes = []float64{12.1, 12.0, 12.3, 12.1, 19.7, 12.2, 12.0, 12.1}

func ExampleMedian() {
	fmt.Printf("%.2f us, the mean is %.2f\n", stats.Median(kernelTimes), stats.Mean(kernelTimes))
	// Output:
	// 12.10 us, the mean is 13.06
}

func ExampleQuantiles() {
	q := stats.Quantiles(kernelTimes, 0.5, 0.9)
	fmt.Printf("half of the runs take at most %.2f us, nine of ten at most %.2f\n", q[0], q[1])
	// Output:
	// half of the runs take at most 12.10 us, nine of ten at most 14.52
}

func ExampleMedianInterval() {
	i := stats.MedianInterval(kernelTimes, 0.95, 0.1) // the timer has steps of 0.1
	fmt.Printf("%.2f to %.2f us\n", i.Low, i.High)
	// Output:
	// 11.95 to 12.35 us
}

// Rounds measured side by side are compared in pairs: what the machine does to both sides cancels out.
func ExampleNewPaired() {
	base := []float64{100, 104, 99, 110, 101, 100}
	candidate := []float64{103.1, 107, 101.9, 113.2, 104.2, 102.9}
	p, err := stats.NewPaired(base, candidate, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	r := p.Ratio(0.95)
	fmt.Printf("%.3f times as long (%.3f to %.3f), p = %.1g\n", r.Value, r.Low, r.High, p.Above(0))
	// Output:
	// 1.030 times as long (1.029 to 1.031), p = 1e-08
}

// Runs that were not measured together are compared as two sets.
func ExampleMedianRatio() {
	r := stats.MedianRatio([]float64{10, 11, 10, 12, 11, 10, 11}, []float64{12, 13, 12, 13, 14, 12, 13}, 0.95, 0)
	fmt.Printf("%.2f times as long (%.2f to %.2f)\n", r.Value, r.Low, r.High)
	// Output:
	// 1.18 times as long (1.09 to 1.30)
}

func ExampleMannWhitney() {
	t := stats.MannWhitney([]float64{10, 11, 12, 13}, []float64{14, 15, 16, 17}, stats.Less)
	fmt.Printf("p = %.4f, exact: %t\n", t.P, t.Exact)
	// Output:
	// p = 0.0143, exact: true
}

func ExampleWilcoxon() {
	t := stats.Wilcoxon([]float64{0.9, 1.2, 0.7, 1.4, 1.1, 0.8}, stats.Greater)
	fmt.Printf("p = %.4f\n", t.P)
	// Output:
	// p = 0.0156
}

func ExampleCliff() {
	delta := stats.Cliff([]float64{10, 11, 12}, []float64{11, 13, 14})
	fmt.Printf("%.2f, a %s effect\n", delta, stats.EffectOf(delta))
	// Output:
	// -0.67, a large effect
}

// Twenty cases give a false alarm at 5 % more often than not. Holm's correction holds for all of them together.
func ExampleHolm() {
	fmt.Printf("%.3f\n", stats.Holm([]float64{0.001, 0.02, 0.04, 0.3}))
	// Output:
	// [0.004 0.060 0.080 0.300]
}

func ExampleBenjaminiHochberg() {
	fmt.Printf("%.3f\n", stats.BenjaminiHochberg([]float64{0.001, 0.02, 0.04, 0.3}))
	// Output:
	// [0.004 0.040 0.053 0.300]
}

// How small a slowdown can 16 rounds show that spread by 2 %?
func ExampleMinDetectable() {
	fmt.Printf("%.1f %%\n", 100*stats.MinDetectable(0.02, 16, 0.001, 0.05))
	// Output:
	// 2.8 %
}

// Looking four times at growing data needs a smaller p at each look.
func ExampleSpendingP() {
	fmt.Printf("%.3f\n", stats.SpendingP([]float64{0.2, 0.01, 0.003}, []float64{0.25, 0.25, 0.25, 0.25}))
	// Output:
	// 0.012
}

func ExampleChangeFinder() {
	var series []float64
	for i := range 40 {
		level := 100.0
		if i >= 25 {
			level = 108
		}
		series = append(series, level+float64(i*7%5)/10)
	}
	for _, c := range (stats.ChangeFinder{}).Find(series) {
		fmt.Printf("from point %d on: %.1f, before %.1f\n", c.Index, c.After, c.Before)
	}
	// Output:
	// from point 25 on: 108.2, before 100.2
}

// A kernel that runs at two clock speeds has two modes, and its median jumps between them.
func ExampleModes() {
	var x []float64
	for i := range 60 {
		x = append(x, 100+float64(i%7)/10, 120+float64(i%5)/10)
	}
	for _, m := range stats.Modes(x, 0) {
		fmt.Printf("%.0f %% at %.0f\n", 100*m.Share, m.At)
	}
	// Output:
	// 50 % at 100
	// 50 % at 120
}

// Warm-up is over when the last two windows agree.
func ExampleSteady() {
	ramp := []float64{30, 29.9, 29.8, 25, 24.9, 24.8, 20, 20.1, 19.9, 20, 20.1, 20} // the clock rises twice
	fmt.Println(stats.Steady(ramp[:6], 3, 0.01, 0), stats.Steady(ramp, 3, 0.01, 0))
	// Output:
	// false true
}
