package search

// Knobs are for development.
var Knobs = map[string]*float64{}

func knob(name string, v float64) *float64 { Knobs[name] = &v; return &v }
