package measure

// Values are numbers that a harness reports of a case in addition to its time: tokens per second, bytes, the error
// against a known result.
type Values struct {
	Metric  string  `json:"metric"`
	Unit    string  `json:"unit"`
	Better  Better  `json:"better"`
	Samples Samples `json:"samples"`
}
