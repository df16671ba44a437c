package stats

// Alternative is the alternative hypothesis of a test.
type Alternative int

// The values of the first set tend to be different from, smaller than, or larger than the second.
const (
	TwoSided Alternative = iota
	Less
	Greater
)

// Test is the result of a hypothesis test. Without data, P is 1.
type Test struct {
	Statistic float64
	P         float64
	Exact     bool // P comes from the exact distribution, not from its normal approximation
}
