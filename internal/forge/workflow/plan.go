package workflow

import (
	"bytes"
	"cmp"
)

// Action is the action taken for a file.
type Action string

// The actions.
const (
	Create  Action = "written"
	Replace Action = "replaced"   // written by pawl and unmodified since
	Same    Action = "up to date" // already has the right content
	Keep    Action = "kept"       // edited or written by a user: the new text is put next to it
)

// NewSuffix is the name suffix of a new text put next to a kept file.
const NewSuffix = ".new"

// Change is a file and the action to take.
type Change struct {
	File
	Deed Action
	Why  string // why it is kept
}

// Plan decides what to do with each file. Read returns the existing text; nil if there is
// none. With force, edited files are replaced too.
func Plan(files []File, read func(path string) []byte, force bool) []Change {
	var list []Change
	for _, f := range files {
		c := Change{File: f, Deed: Create}
		if there := read(f.Path); there != nil {
			c.Deed, c.Why = actionFor(f.Text, there, force)
		}
		list = append(list, c)
	}
	return list
}

func actionFor(text, there []byte, force bool) (Action, string) {
	if bytes.Equal(text, there) || bytes.Equal(body(text), body(there)) {
		return Same, ""
	}
	st, ours := ReadStamp(there)
	switch {
	case force, ours && !st.Edited:
		return Replace, ""
	case ours:
		return Keep, "it was edited after pawl " + st.Version + " wrote it"
	default:
		return Keep, "pawl did not write it"
	}
}

// body returns a file without its header line, so that a release that would write the same
// text does not touch the file. A text without that line is all body.
func body(text []byte) []byte {
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	if headerLine.Match(first) {
		return rest
	}
	return text
}

// Merge returns the settings of an upgrade: the earlier settings, overridden by those given
// now, with the pawl version that writes.
func Merge(now, then, fresh Settings) Settings {
	then.Action, then.ActionTag = "", "" // always use the newer action
	if then.Install != "installed" && then.Install != "source" {
		then.Install = ""
	}
	then.Install = cmp.Or(then.Install, fresh.Install)
	return now.WithDefaults(then).WithDefaults(fresh)
}
