package journal

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
)

// maxChanges is how many variables are told: nobody asks whether one of a thousand changed.
const maxChanges = 200

// Changed is how a source differs from another, variable by variable: comments and white
// space do not count, and code that differs only by a constant is told as the constant.
func Changed(before, after Snapshot) []Change {
	var list []Change
	for _, name := range keysOf(before.Files, after.Files) {
		was, had := before.Files[name]
		is, has := after.Files[name]
		switch {
		case had && has && was.Digest == is.Digest:
		case !had || !has || was.Binary || is.Binary:
			list = append(list, Change{What: File, File: name, Name: path.Base(name), Added: lines(is.Text), Gone: lines(was.Text)})
		default:
			list = append(list, changedFile(name, was.Text, is.Text)...)
		}
	}
	for _, name := range keysOf(before.Parameters, after.Parameters) {
		if was, is := before.Parameters[name], after.Parameters[name]; was != is {
			list = append(list, Change{What: Parameter, Name: name, Before: was, After: is})
		}
	}
	for _, name := range keysOf(before.Flags, after.Flags) {
		list = append(list, changedFlags("", name, before.Flags[name], after.Flags[name])...)
	}
	return list[:min(len(list), maxChanges)]
}

// changedFile compares two texts of one file.
func changedFile(name, was, is string) []Change {
	a, b := partsOf(name, was), partsOf(name, is)
	var list []Change
	for _, k := range keysOf(a.constants, b.constants) {
		if x, y := strings.Join(a.constants[k], ", "), strings.Join(b.constants[k], ", "); x != y {
			list = append(list, Change{What: Constant, File: name, Name: k, Before: short(x), After: short(y)})
		}
	}
	for _, k := range keysOf(a.flags, b.flags) {
		list = append(list, changedFlags(name, k, a.flags[k], b.flags[k])...)
	}
	for _, k := range keysOf(a.code, b.code) {
		if !sameBodies(a.code[k], b.code[k]) {
			added, gone := lineChanges(a.code[k], b.code[k])
			list = append(list, Change{What: Code, File: name, Name: k, Added: added, Gone: gone})
		}
	}
	if !sameBody(a.rest, b.rest) {
		added, gone := lineChanges([]string{a.rest}, []string{b.rest})
		list = append(list, Change{What: File, File: name, Name: path.Base(name), Added: added, Gone: gone})
	}
	return list
}

// parts is a file taken apart. Texts have a line for each line of the file that says
// something, with one space between words.
type parts struct {
	constants map[string][]string // values by name, of which there may be some in branches
	flags     map[string]string   // of a build file, by the variable they stand in
	code      map[string][]string // functions, kernels and types by name; overloads share one
	rest      string
}

func newParts() *parts {
	return &parts{constants: map[string][]string{}, flags: map[string]string{}, code: map[string][]string{}}
}

// partsOf takes a file apart as its name says it is written.
func partsOf(name, text string) *parts {
	base := strings.ToLower(path.Base(name))
	switch ext := path.Ext(base); {
	case slices.Contains([]string{".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".hxx", ".inl", ".ipp", ".cu", ".cuh", ".cl", ".hip", ".m", ".mm", ".metal"}, ext):
		return partsOfC(text)
	case ext == ".py" || ext == ".pyx":
		return partsOfPython(text)
	case strings.HasPrefix(base, "makefile") || base == "gnumakefile" || ext == ".mk" || ext == ".make":
		return partsOfMake(text)
	case base == "cmakelists.txt" || ext == ".cmake" || ext == ".yaml" || ext == ".yml" || ext == ".toml" || ext == ".sh":
		return &parts{rest: plainLines(text, "#")}
	default:
		return &parts{rest: plainLines(text, "")}
	}
}

// sameBodies compares code whatever the order in which overloads stand, sameBody whatever
// the lines it is broken into.
func sameBodies(a, b []string) bool {
	key := func(list []string) []string {
		var flat []string
		for _, s := range list {
			flat = append(flat, strings.ReplaceAll(s, "\n", " "))
		}
		slices.Sort(flat)
		return flat
	}
	return slices.Equal(key(a), key(b))
}

func sameBody(a, b string) bool { return sameBodies([]string{a}, []string{b}) }

// lineChanges counts the lines that came and went, wherever they stand.
func lineChanges(was, is []string) (added, gone int) {
	count := map[string]int{}
	for _, s := range is {
		for line := range strings.SplitSeq(s, "\n") {
			count[line]++
		}
	}
	for _, s := range was {
		for line := range strings.SplitSeq(s, "\n") {
			count[line]--
		}
	}
	delete(count, "")
	for _, n := range count {
		added += max(n, 0)
		gone += max(-n, 0)
	}
	if added+gone == 0 { // the same lines in another order
		return 1, 1
	}
	return added, gone
}

// changedFlags compares the words of a flag variable: -O2 and -O3 are one that changed.
func changedFlags(file, name, was, is string) []Change {
	a, b := flagWords(was), flagWords(is)
	var list []Change
	for _, stem := range keysOf(a, b) {
		if a[stem] != b[stem] {
			list = append(list, Change{What: Flag, File: file, Name: strings.TrimSpace(cmp.Or(name, "flags") + " " + stem), Before: short(a[stem]), After: short(b[stem])})
		}
	}
	return list
}

// flagWords are the words of a line of flags by what they set: -DTILE=64 sets -DTILE.
func flagWords(s string) map[string]string {
	words := map[string]string{}
	for w := range strings.FieldsSeq(s) {
		stem, _, ok := strings.Cut(w, "=")
		if !ok && strings.HasPrefix(w, "-") {
			stem = strings.TrimRight(w, "0123456789")
		}
		words[stem] = strings.TrimSpace(words[stem] + " " + w)
	}
	return words
}

func keysOf[V any](a, b map[string]V) []string {
	keys := slices.Concat(slices.Collect(maps.Keys(a)), slices.Collect(maps.Keys(b)))
	slices.Sort(keys)
	return slices.Compact(keys)
}

func lines(text string) int {
	if text == "" {
		return 0
	}
	return strings.Count(strings.TrimSuffix(text, "\n"), "\n") + 1
}

// short is a value as a sentence can hold it.
func short(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:57]) + "..."
	}
	return s
}
