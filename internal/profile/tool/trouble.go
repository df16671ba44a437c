package tool

import "fmt"

// Trouble is why a tool gave no profile.
type Trouble struct { //nolint:errname // it is told to people, and has a fix
	Tool string // ncu, nsys, ...
	What string // what was attempted, on what
	Why  string
	Fix  string
	Err  error // what the harness said, where it failed too
}

func (t *Trouble) Error() string {
	s := fmt.Sprintf("%s with %s: %s", t.What, t.Tool, t.Why)
	if t.Fix != "" {
		s += ": " + t.Fix
	}
	return s
}

// Unwrap is what else failed.
func (t *Trouble) Unwrap() error { return t.Err }
