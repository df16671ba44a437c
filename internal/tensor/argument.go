package tensor

// Argument is one thing that a kernel is given, in the order of its signature, for
// one config: sizes are numbers here, where a suite has expressions.
type Argument struct {
	Name    string  `json:"name"`
	Role    Role    `json:"role"`
	DType   DType   `json:"dtype"`
	Shape   []int   `json:"shape,omitempty"`   // none for a value
	Strides []int   `json:"strides,omitempty"` // in elements; empty is row-major without gaps
	Value   float64 `json:"value,omitempty"`   // of a value
	Fill    Fill    `json:"fill,omitzero"`     // of an input
}

// Role tells what a kernel does with an argument.
type Role string

// The roles.
const (
	In    Role = "in"    // only read: must be unchanged afterwards
	Out   Role = "out"   // only written: every element, whatever was there before
	InOut Role = "inout" // read, then written
	Value Role = "value" // a number, passed by value
)

// Fill says which contents make sense for an input. Without a limit they are any
// that its type can hold.
type Fill struct {
	Kind FillKind `json:"kind,omitempty"` // empty is normal for floats, uniform for integers
	Low  float64  `json:"low,omitempty"`  // of uniform: from here
	High float64  `json:"high,omitempty"` // to here; integers exclude it
}

// FillKind names a distribution.
type FillKind string

// The distributions.
const (
	Normal  FillKind = "normal"  // mean 0, standard deviation 1
	Uniform FillKind = "uniform" // from Low to High; floats without limits from -1 to 1
)
