package client

// The two ways to read a body, for tests that hold one against the other.
var (
	Quick   = quick
	Careful = careful
)
