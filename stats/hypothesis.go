package stats

// Alternative is what a test sets against "no difference".
type Alternative int

// The alternatives: the first values tend to be different, smaller or larger.
const (
	TwoSided Alternative = iota
	Less
	Greater
)

// Test is the outcome of a test. Where there is nothing to test, P is 1: no
// values are no evidence.
type Test struct {
	Statistic float64
	P         float64
	Exact     bool // from the exact distribution, not from the normal one that it approaches
}
