package trend

// Follow calls each with the events after every point, as Find reports them. It is faster than a Find for
// every point, which starts from a stored state.
func Follow(points []float64, each func(n int, events []Event)) {
	w, y, at := resume(points, State{})
	for i := range points {
		if w.Values < len(y) && at[w.Values] == i {
			w.look(y[:w.Values+1])
		}
		each(i+1, w.events(at, Settings{}))
	}
}
