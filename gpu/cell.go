package gpu

// Cell is one hardware figure together with its source. A gate that calls a measured time impossible must
// be able to cite the figure it relies on.
type Cell[T any] struct {
	Value   T      `json:"value"`
	Source  Source `json:"source"`
	Certain bool   `json:"certain"` // false if sources differ, or if neither the vendor nor a driver gives the figure
}

// Known reports whether the cell has a figure.
func (c Cell[T]) Known() bool { return c.Source != "" }

// IsZero reports whether the cell has no figure, so that JSON can omit it.
func (c Cell[T]) IsZero() bool { return !c.Known() }

func certain[T any](value T, source Source) Cell[T] {
	return Cell[T]{Value: value, Source: source, Certain: true}
}

// uncertain returns a cell on which sources differ, or whose source is secondhand. The value must be the
// highest one: a limit that a kernel is checked against must not be below what the hardware can do.
func uncertain[T any](value T, source Source) Cell[T] {
	return Cell[T]{Value: value, Source: source}
}
