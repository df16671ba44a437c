package store

// Reviewed tells whether a table, or a policy of one, stands in reviewed.go.
func Reviewed(name string) bool { return reviewed[name] != "" }
