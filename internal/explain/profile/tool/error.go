package tool

import "fmt"

// Error explains why a tool gave no profile.
type Error struct {
	Tool string // ncu, nsys, ...
	What string // what was attempted
	Why  string
	Fix  string
	Err  error // error of the harness, if it failed too
}

func (t *Error) Error() string {
	s := fmt.Sprintf("%s with %s: %s", t.What, t.Tool, t.Why)
	if t.Fix != "" {
		s += ": " + t.Fix
	}
	return s
}

// Unwrap returns the harness's error.
func (t *Error) Unwrap() error { return t.Err }
