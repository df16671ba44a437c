package measure

// Samples is a series of readings in the order they were taken. It is never
// sorted in place: the order shows drift, warm-up and throttling.
type Samples []float64
