package stats

import (
	"iter"
	"math"
	"slices"
	"sort"
)

// Mode is a value around which samples cluster.
type Mode struct {
	At    float64
	Share float64 // share of the samples between the valleys on either side
}

// Modes returns the values around which samples cluster, in ascending order. A kernel with two modes
// runs at two clock speeds, or with two memory layouts, and its median jumps between them. Use it for
// observation: the number of modes is not a test.
//
// Modes estimates the density of the samples with a Gaussian kernel. Its width is Silverman's, but at
// least 0.6 steps of the timer (quantum): at that width the ripple caused by the steps is below 1 %.
// If the quantum is unset and the steps are as coarse as the spread, the steps are mistaken for modes.
// A peak is a mode if it exceeds the valley beside it by more than the uncertainty of the density.
func Modes(x []float64, quantum float64) []Mode {
	s := Sort(x)
	if !s.usable() {
		return nil
	}
	d := newDensity(s, quantum)
	if d.width == 0 {
		return []Mode{{s.Median(), 1}}
	}
	return d.modes()
}

// minPeakProminence is the number of standard errors by which the root of a peak's density must exceed the root
// of its valley's. The root has the same standard error everywhere. The value is measured, not derived.
// It was tested on sets of 100 samples. A second mode appears in fewer than one in a thousand from a
// normal distribution, rounded or not. From a lognormal with a long tail (sigma 0.8) it is one in a hundred.
// Two equal peaks six standard deviations apart are found in 99 of a hundred sets; a peak with a tenth
// of the samples, ten standard deviations away, in 96.
const minPeakProminence = 2.5

// kernelReach is the distance, in kernel widths, beyond which a sample no longer counts.
const kernelReach = 4

// density is a kernel density estimate of the samples.
type density struct {
	s     Sorted
	width float64 // kernel width; 0 if the samples are too close together or too far apart for float64
}

func newDensity(s Sorted, quantum float64) density {
	spread := StdDev(s)
	// The quartiles are robust to a few outliers. If half of the samples are equal, they carry no
	// information, unless the step of the timer is known.
	if quartiles := (s.Quantile(0.75) - s.Quantile(0.25)) / 1.349; quartiles > 0 || quantum > 0 {
		spread = min(spread, quartiles)
	}
	width := max(0.9*spread*math.Pow(float64(len(s)), -0.2), 0.6*quantum)
	low, high := s[0], s[len(s)-1]
	if !(width > 1e-12*max(math.Abs(low), math.Abs(high))) || math.IsInf(high-low+4*kernelReach*width, 1) {
		width = 0
	}
	return density{s, width}
}

// point is a point of the curve: the root of the density at a value.
type point struct{ at, root float64 }

// modes returns the peaks that remain after removing those that hardly stand out, weakest first, each
// together with the valley that separates it from its neighbor.
func (d density) modes() []Mode {
	peaks, valleys := d.extrema()
	// The root of a density estimated from n samples has a variance of R/(4 n width), with
	// R = 1/(2 sqrt(pi)) for a Gaussian kernel. A peak and a valley have twice that.
	least := minPeakProminence * math.Sqrt(2/(2*math.Sqrt(math.Pi))/(4*float64(len(d.s))*d.width))
	for len(valleys) > 0 {
		weakest, by := 0, math.Inf(1)
		for i, v := range valleys {
			if out := min(peaks[i].root, peaks[i+1].root) - v.root; out < by {
				weakest, by = i, out
			}
		}
		if by >= least {
			break
		}
		valleys = slices.Delete(valleys, weakest, weakest+1)
		if peaks[weakest].root > peaks[weakest+1].root {
			weakest++
		}
		peaks = slices.Delete(peaks, weakest, weakest+1)
	}
	list := make([]Mode, len(peaks))
	from := 0
	for i, p := range peaks {
		to := len(d.s)
		if i < len(valleys) {
			to = sort.SearchFloat64s(d.s, valleys[i].at)
		}
		list[i] = Mode{p.at, float64(to-from) / float64(len(d.s))}
		from = to
	}
	return list
}

// extrema returns the peaks of the curve and the valleys between them.
func (d density) extrema() (peaks, valleys []point) {
	last, rising := point{math.Inf(-1), 0}, true
	for p := range d.curve() {
		switch {
		case rising && p.root < last.root:
			peaks, rising = append(peaks, last), false
		case !rising && p.root > last.root:
			valleys, rising = append(valleys, last), true
		}
		last = p
	}
	return peaks, valleys
}

// curve walks along the samples in quarters of the kernel width, and skips stretches without samples,
// so that a single outlier cannot make it long.
func (d density) curve() iter.Seq[point] {
	return func(yield func(point) bool) {
		for rest := d.s; len(rest) > 0; {
			end := 1
			for end < len(rest) && rest[end]-rest[end-1] <= 2*kernelReach*d.width {
				end++
			}
			group := rest[:end]
			rest = rest[end:]
			from := group[0] - kernelReach*d.width
			steps := int(math.Ceil((group[end-1] - group[0] + 2*kernelReach*d.width) / (d.width / 4)))
			for i := range steps + 1 {
				at := from + float64(i)*d.width/4
				root := 0.0
				if i > 0 && i < steps {
					for len(group) > 0 && group[0] < at-kernelReach*d.width {
						group = group[1:]
					}
					root = math.Sqrt(kernelSum(group, at, d.width) / (float64(len(d.s)) * d.width))
				}
				if !yield(point{at, root}) {
					return
				}
			}
		}
	}
}

// kernelSum returns the sum of the Gaussian kernels of the samples near a value.
func kernelSum(s Sorted, at, width float64) float64 {
	var sum float64
	for _, v := range s {
		z := (v - at) / width
		if z > kernelReach {
			break
		}
		sum += normalDensity(z)
	}
	return sum
}
