package search

import "math"

// fitted is a kernel with what the data say of it.
type fitted struct {
	logs  []float64 // of the weights, as newKernel takes them, and of the noise
	score float64
}

// fit looks for the weights under which the values are most likely, from a start, by
// going along one weight at a time with shrinking steps.
func fit(axes []feature, points [][]uint16, y []float64, start []float64, rounds int) fitted {
	if len(points) > int(*FitMax) {
		points, y = points[len(points)-int(*FitMax):], y[len(y)-int(*FitMax):]
	}
	best := fitted{logs: append([]float64(nil), start...)}
	best.score = likelihood(axes, points, y, best.logs)
	step := 1.0
	for range rounds {
		moved := false
		for i := range best.logs {
			for _, by := range []float64{step, -step} {
				logs := append([]float64(nil), best.logs...)
				logs[i] += by
				if s := likelihood(axes, points, y, logs); s > best.score+1e-6 {
					best, moved = fitted{logs, s}, true
					break
				}
			}
		}
		if !moved {
			step /= 2
		}
	}
	return best
}

// likelihood is the logarithm of the marginal likelihood with the mean and the
// variance of the process profiled out, plus what is believed of weights beforehand.
func likelihood(axes []feature, points [][]uint16, y []float64, logs []float64) float64 {
	d := len(logs) - 1
	prior := 0.0
	for i := range axes {
		if axes[i].apart {
			prior += square((logs[i] - *priorApart) / *sdApart)
		} else {
			prior += square((logs[i] - *priorRank) / *sdRank)
		}
	}
	prior += square((logs[d]-*priorNoise)/2) + square((logs[d-1]-*priorC) / *sdC)
	g := gp{k: newKernel(axes, logs), noise: math.Exp(logs[d])}
	logDet := 0.0
	for _, p := range points {
		row := g.add(p)
		logDet += math.Log(row[len(row)-1])
	}
	_, variance := g.level(y)
	n := float64(len(y))
	return -n/2*math.Log(variance) - logDet - prior/2
}

// level is the mean of the process and its variance, as the values have it.
func (g *gp) level(y []float64) (mean, variance float64) {
	ones := make([]float64, len(y))
	for i := range ones {
		ones[i] = 1
	}
	o, z := g.whiten(ones), g.whiten(y)
	mean = dot(o, z) / dot(o, o)
	sum := 0.0
	for i := range z {
		sum += square(z[i] - mean*o[i])
	}
	return mean, max(sum/float64(len(y)), 1e-12)
}

var (
	priorRank  = knob("priorRank", 0.7)
	priorApart = knob("priorApart", -2)
	sdRank     = knob("sdRank", 2)
	sdApart    = knob("sdApart", 1.5)
	priorC     = knob("priorC", 1)
	sdC        = knob("sdC", 1)
	priorNoise = knob("priorNoise", -6)
)

func square(x float64) float64 { return x * x }
