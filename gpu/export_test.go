package gpu

// ParseCards reads cards as those of cards.txt are read.
var ParseCards = parseCards

// PeakOfRates returns the peak that follows from the rates of a card's architecture.
func PeakOfRates(c Card, d DType) (float64, bool) {
	peak := c.derivedPeak(d)
	return peak.Value, peak.Known()
}
