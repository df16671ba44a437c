package workflow

import (
	"bytes"
	"cmp"
)

// Deed is what becomes of a file.
type Deed string

// The deeds.
const (
	Create  Deed = "written"
	Replace Deed = "replaced"   // pawl wrote it, and nobody has touched it since
	Same    Deed = "up to date" // it says what it should
	Keep    Deed = "kept"       // somebody edited it, or wrote it: the new text goes beside it
)

// Beside is the end of the name of a text that lies beside a file that is kept.
const Beside = ".new"

// Change is a file and what to do about it.
type Change struct {
	File
	Deed Deed
	Why  string // why it is kept
}

// Plan decides what to do with each file. read gives the text that is there, and nil where
// there is none. With force, what somebody edited is replaced, too.
func Plan(files []File, read func(path string) []byte, force bool) []Change {
	var list []Change
	for _, f := range files {
		c := Change{File: f, Deed: Create}
		if there := read(f.Path); there != nil {
			c.Deed, c.Why = fate(f.Text, there, force)
		}
		list = append(list, c)
	}
	return list
}

func fate(text, there []byte, force bool) (Deed, string) {
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

// body is a file without the line that says who wrote it: another release that would
// write the same text is no reason to touch a file. A text without that line is all body.
func body(text []byte) []byte {
	first, rest, _ := bytes.Cut(text, []byte("\n"))
	if headerLine.Match(first) {
		return rest
	}
	return text
}

// Merge is the settings of an upgrade: what was asked for at the time, but for what is
// asked for now, with the pawl that writes.
func Merge(now, then, fresh Settings) Settings {
	then.Action, then.ActionTag = "", "" // the action is always the newer one
	if then.Install != "installed" && then.Install != "source" {
		then.Install = ""
	}
	then.Install = cmp.Or(then.Install, fresh.Install)
	return now.Filled(then).Filled(fresh)
}
