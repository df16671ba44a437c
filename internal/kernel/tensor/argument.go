package tensor

// Argument is one argument of a kernel, in the order of its signature, for one config.
// Its sizes are numbers, where a suite has expressions.
type Argument struct {
	Name    string  `json:"name"`
	Role    Role    `json:"role"`
	DType   DType   `json:"dtype"`
	Shape   []int   `json:"shape,omitempty"`   // empty for a value
	Strides []int   `json:"strides,omitempty"` // in elements; empty means row-major without gaps
	Value   float64 `json:"value,omitempty"`   // the number of a Value argument
	Fill    Fill    `json:"fill,omitzero"`     // contents of an input
	Map     *Map    `json:"map,omitempty"`     // how a CUDA kernel takes the tensor; nil means as a pointer
}

// Map describes the tensor map (CUtensorMap) that a CUDA kernel takes instead of a pointer.
// The driver makes it of the argument's type, sizes and strides.
type Map struct {
	Box     []int `json:"box"`               // elements of a tile, outermost first
	Swizzle int   `json:"swizzle,omitempty"` // bytes: 32, 64 or 128; 0 means none
}

// Role is what a kernel does with an argument.
type Role string

// Roles of arguments.
const (
	In    Role = "in"    // read only: must stay unchanged
	Out   Role = "out"   // write only: every element, regardless of its previous content
	InOut Role = "inout" // read, then written
	Value Role = "value" // a number, passed by value
)

// Fill describes valid contents of an input. Without limits, any value of its type is
// valid.
type Fill struct {
	Kind FillKind `json:"kind,omitempty"` // empty means normal for floats, uniform for integers
	Low  float64  `json:"low,omitempty"`  // lower limit of uniform
	High float64  `json:"high,omitempty"` // upper limit of uniform; exclusive for integers
}

// FillKind names a distribution.
type FillKind string

// Distributions.
const (
	Normal  FillKind = "normal"  // mean 0, standard deviation 1
	Uniform FillKind = "uniform" // from Low to High; floats without limits: from -1 to 1
)
