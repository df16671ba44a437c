package tool

import "fmt"

// Trouble explains why a tool gave no profile.
type Trouble struct { //nolint:errname // it is told to people, and has a fix
	Tool string // ncu, nsys, ...
	What string // what was attempted
	Why  string
	Fix  string
	Err  error // error of the harness, if it failed too
}

func (t *Trouble) Error() string {
	s := fmt.Sprintf("%s with %s: %s", t.What, t.Tool, t.Why)
	if t.Fix != "" {
		s += ": " + t.Fix
	}
	return s
}

// Unwrap returns the harness's error.
func (t *Trouble) Unwrap() error { return t.Err }
