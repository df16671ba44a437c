package web

// Limit is one limit and its use.
type Limit struct {
	Name        string
	Limit, Used int64 // a limit of 0 means none
}

// Percent returns how much of the limit is used, at most 100.
func (l Limit) Percent() int64 {
	if l.Limit <= 0 {
		return 0
	}
	return min(100, int64(float64(l.Used)/float64(l.Limit)*100))
}

// Limits is the page of all limits of a project.
type Limits struct{ List []Limit }

// Title returns the heading.
func (Limits) Title() string { return "Limits" }
func (Limits) tab() string   { return "settings" }
