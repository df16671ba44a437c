package gate

import "fmt"

// A Fence lets one attempt of a gate publish. It is kept in one row of the database for each publication key.
type Fence struct {
	Attempt   int // latest attempt that started
	Published int // attempt that was published; 0 if none
}

// Raise records that an attempt starts: earlier ones may no longer publish.
func (f *Fence) Raise(attempt int) { f.Attempt = max(f.Attempt, attempt) }

// Publish reports whether the result of an attempt is to be published now. It reports false for the attempt that was
// published already, since an activity may run twice, and returns an error for any other.
func (f *Fence) Publish(attempt int) (bool, error) {
	switch {
	case attempt < 1:
		return false, fmt.Errorf("attempt %d does not exist", attempt)
	case f.Published == attempt:
		return false, nil
	case f.Published != 0:
		return false, fmt.Errorf("attempt %d cannot publish: attempt %d has published", attempt, f.Published)
	case attempt < f.Attempt:
		return false, fmt.Errorf("attempt %d cannot publish: attempt %d has started", attempt, f.Attempt)
	}
	f.Attempt, f.Published = attempt, attempt
	return true, nil
}
