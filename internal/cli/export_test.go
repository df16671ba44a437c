package cli

import "github.com/goatnote-inc/pawl/internal/forge"

// SetForges replaces the list of forges until the returned function is called.
func SetForges(list ...forge.Forge) (restore func()) {
	was := forges
	forges = list
	return func() { forges = was }
}
